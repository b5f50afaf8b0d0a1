/** Jobs in a table, with boxes to select them where something can be done with many. */
import { html } from "../dom.js";
import { between, duration } from "../format.js";
import { to } from "../router.js";
import { FINISHED } from "../states.js";
import { Moment, Since } from "./moment.js";
import { State } from "./state.js";

const jobAddress = (job) => to`ui/jobs/${job.id}`;

/**
 * @param {{jobs: object[], selection?: import("../selection.js").Selection, href?: (job: object) => string,
 *   label?: string}} props `href`: where a row leads, if not to the job
 */
export function JobTable({ jobs, selection, label = "Jobs", href = jobAddress }) {
  return html`<div class="scroll">
    <table class="jobs">
      <caption class="unseen">${label}</caption>
      <thead>
        <tr>
          ${selection && html`<th scope="col" class="box"><${SelectAll} ...${{ jobs, selection }} /></th>`}
          <th scope="col">State</th>
          <th scope="col">Job</th>
          <th scope="col">Queue</th>
          <th scope="col" class="number">Priority</th>
          <th scope="col" class="number">Attempt</th>
          <th scope="col" class="number">When</th>
          <th scope="col" class="number">Ran</th>
          <th scope="col">Detail</th>
        </tr>
      </thead>
      <tbody>
        ${jobs.map((job) => html`<${Row} key=${job.id} ...${{ job, selection, href: href(job) }} />`)}
      </tbody>
    </table>
  </div>`;
}

function SelectAll({ jobs, selection }) {
  const chosen = jobs.filter(({ id }) => selection.has(id)).length;
  return html`<input
    type="checkbox"
    aria-label="Select all on this page"
    checked=${chosen > 0 && chosen === jobs.length}
    indeterminate=${chosen > 0 && chosen < jobs.length}
    onChange=${(event) => selection.setPage(event.target.checked)}
  />`;
}

function Row({ job, selection, href }) {
  const chosen = selection?.has(job.id);
  return html`<tr data-row class=${chosen ? "selected" : ""}>
    ${selection &&
    html`<td class="box">
      <input
        type="checkbox"
        aria-label=${`Select ${job.task} ${job.id}`}
        checked=${chosen}
        onClick=${(event) => selection.toggle(job.id, event.shiftKey)}
      />
    </td>`}
    <td><${State} state=${job.state} /></td>
    <th scope="row">
      <span class="what">
        <a class="task" href=${href}>${job.task}</a>
        ${job.preview && html`<span class="preview mono" title=${job.preview}>${job.preview}</span>`}
      </span>
      <span class="id mono">${job.id}</span>
    </th>
    <td class="spare"><a class="quiet" href=${to`ui/queues/${job.queue}`}>${job.queue}</a></td>
    <td class="number spare">${job.priority}</td>
    <td class="number spare">${job.attempt}<span class="muted">/${job.max_retries + 1}</span></td>
    <td class="number when"><${When} job=${job} /></td>
    <td class="number spare"><${Ran} job=${job} /></td>
    <td class="detail"><${Detail} job=${job} /></td>
  </tr>`;
}

/** The moment that matters in its state. */
function When({ job }) {
  if (job.state === "active") return html`<${Moment} at=${job.started_at} />`;
  if (FINISHED.includes(job.state)) return html`<${Moment} at=${job.finished_at} />`;
  if (["scheduled", "retry"].includes(job.state)) return html`<${Moment} at=${job.due_at} />`;
  return html`<${Moment} at=${job.created_at} />`;
}

function Ran({ job }) {
  if (job.state === "active") return html`<${Since} at=${job.started_at} />`;
  if (!FINISHED.includes(job.state)) return "";
  return duration(between(job.started_at, job.finished_at));
}

function Detail({ job }) {
  if (job.state === "active" && job.progress)
    return html`<progress class="progress" max="100" value=${job.progress.percent} aria-label="Progress"></progress>`;
  if (job.error)
    return html`<span class="clip" title=${job.error.message}><b>${job.error.kind}</b> ${job.error.message}</span>`;
  if (job.awaits) return html`<span class="clip">waits for the signal ${job.awaits}</span>`;
  if (job.state === "active") return html`<span class="clip muted">${job.worker}</span>`;
  const labels = Object.entries(job.labels).map(([name, value]) => `${name}=${value}`);
  return html`<span class="clip muted">${labels.join(" ")}</span>`;
}
