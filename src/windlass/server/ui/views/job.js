/** One job: what it carries, how it stands, and everything that happened to it. */
import { get, path } from "../api.js";
import { Cell } from "../cell.js";
import { html, useEffect, useMemo } from "../dom.js";
import { useLoad } from "../load.js";
import { Attempts, Failure } from "../parts/attempts.js";
import { JobActions } from "../parts/jobactions.js";
import { JobFacts } from "../parts/jobfacts.js";
import { Page, Panel } from "../parts/page.js";
import { Copy, Payload } from "../parts/payload.js";
import { Empty, Loaded } from "../parts/standing.js";
import { State } from "../parts/state.js";
import { address, to } from "../router.js";
import { me } from "../session.js";
import { FINISHED } from "../states.js";
import { follow } from "../stream.js";

const EVERY = 15_000;

export default function Job({ id }) {
  const news = useMemo(() => new Cell(0), []);
  const ask = async (signal) => {
    const [job, { attempts }] = await Promise.all([
      get(path`jobs/${id}`, {}, { signal }),
      get(path`jobs/${id}/attempts`, {}, { signal }),
    ]);
    const why = FINISHED.includes(job.state) ? null : await get(path`jobs/${id}/why`, {}, { signal });
    return { job, attempts, why };
  };
  const found = useLoad([id], ask, { on: [news], every: EVERY });
  useEffect(() => follow({ job: id }, { hear: () => (news.value += 1) }), [id]);
  if (found.error?.status === 404) return html`<${Gone} id=${id} />`;
  const job = found.data?.job;
  return html`<${Page}
    title=${job ? html`${job.task} <${State} state=${job.state} />` : "Job"}
    name=${job?.task ?? "Job"}
    trail=${[["Jobs", "ui/jobs"]]}
    tools=${job && html`<${JobActions} job=${job} after=${found.reload} />`}
    refresh=${found.reload}
  >
    <${Loaded} of=${found} lines=${14}>${(data) => html`<${Found} ...${data} />`}<//>
  <//>`;
}

function Found({ job, attempts, why }) {
  // What went wrong comes first.
  const failed = job.error && job.state !== "completed";
  return html`<p class="subline"><code>${job.id}</code> <${Copy} text=${job.id} name="the id" /></p>
    <div class="columns">
      <div>
        ${why && html`<p class="why" role="status">${why.reason}</p>`}
        ${job.progress && !FINISHED.includes(job.state) && html`<${Progress} progress=${job.progress} />`}
        ${failed && html`<${Panel} title="Attempts" tools=${html`<${Alike} job=${job} />`}>
          ${attempts.length ? html`<${Attempts} attempts=${attempts} />` : html`<div class="inside"><${Failure} error=${job.error} /></div>`}
        <//>`}
        <${Panel} title="Arguments"><div class="inside"><${Arguments} job=${job} /></div><//>
        ${job.state === "completed" &&
        html`<${Panel} title="Result"><div class="inside"><${Payload} value=${job.result} name="result" /></div><//>`}
        ${!failed && html`<${Panel} title="Attempts"><${Attempts} attempts=${attempts} /><//>`}
      </div>
      <${Panel} title="Facts"><${JobFacts} job=${job} /><//>
    </div>`;
}

function Progress({ progress }) {
  const percent = Math.round(progress.percent);
  return html`<div class="job-progress">
    <progress class="progress" max="100" value=${progress.percent} aria-label="Progress"></progress>
    <p aria-live="polite">${percent} % <span class="muted">${progress.message}</span></p>
  </div>`;
}

function Arguments({ job }) {
  if (job.unreadable) return html`<p class="muted">They cannot be read here: ${job.unreadable}</p>`;
  const [some, named] = [job.args?.length > 0, Object.keys(job.kwargs ?? {}).length > 0];
  if (!some && !named) return html`<p class="muted">None.</p>`;
  return html`${some && html`<${Payload} value=${job.args} name="arguments by position" />`}
  ${named && html`<${Payload} value=${job.kwargs} name="arguments by name" />`}`;
}

const Alike = ({ job }) =>
  job.state === "dead" && html`<a href=${address("ui/jobs", { state: "dead", fingerprint: job.fingerprint })}>Others that died alike</a>`;

function Gone({ id }) {
  return html`<${Page} title="Job" trail=${[["Jobs", "ui/jobs"]]}>
    <${Panel}>
      <${Empty} title=${`There is no job ${id}.`}>
        It was deleted, or it is over and was kept long enough.
        ${me.value?.history && html` <a href=${to`ui/history/${id}`}>Look in the history</a>`}
      <//>
    <//>
  <//>`;
}
