/** One job of the past, with each of its attempts. */
import { get, path } from "../api.js";
import { html } from "../dom.js";
import { useLoad } from "../load.js";
import { Attempts } from "../parts/attempts.js";
import { JobFacts } from "../parts/jobfacts.js";
import { Page, Panel } from "../parts/page.js";
import { Copy, Payload } from "../parts/payload.js";
import { Loaded } from "../parts/standing.js";
import { State } from "../parts/state.js";

export default function Past({ id }) {
  const found = useLoad([id], (signal) => get(path`history/${id}`, {}, { signal }));
  const job = found.data?.job;
  return html`<${Page}
    title=${job ? html`${job.task} <${State} state=${job.state} />` : "Job of the past"}
    name=${job?.task ?? "History"}
    trail=${[["History", "ui/history"]]}
    refresh=${found.reload}
  >
    <${Loaded} of=${found} lines=${12}>${({ attempts }) => html`<${Found} job=${job} attempts=${attempts} />`}<//>
  <//>`;
}

function Found({ job, attempts }) {
  const asRecorded = attempts.map((each) => ({ ...each, attempt: each.number }));
  return html`<p class="subline"><code>${job.id}</code> <${Copy} text=${job.id} name="the id" /></p>
    <div class="columns">
      <div>
        <${Panel} title="Attempts"><${Attempts} attempts=${asRecorded} /><//>
        <${Panel} title="Arguments">
          <div class="inside">
            ${job.unreadable
              ? html`<p class="muted">They cannot be read here: ${job.unreadable}</p>`
              : html`<${Payload} value=${job.args} name="arguments by position" /><${Payload} value=${job.kwargs} name="arguments by name" />`}
          </div>
        <//>
        ${job.state === "completed" && html`<${Panel} title="Result"><div class="inside"><${Payload} value=${job.result} name="result" /></div><//>`}
      </div>
      <${Panel} title="Facts"><${JobFacts} job=${job} /><//>
    </div>`;
}
