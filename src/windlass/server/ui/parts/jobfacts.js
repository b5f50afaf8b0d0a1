/** What is known of a job, besides what it carries. */
import { html } from "../dom.js";
import { between, duration } from "../format.js";
import { address, to } from "../router.js";
import { Moment } from "./moment.js";

/** @param {{job: object}} props */
export function JobFacts({ job }) {
  const rows = [
    ["Queue", html`<a href=${to`ui/queues/${job.queue}`}>${job.queue}</a>`],
    ["Priority", job.priority],
    ["Attempt", `${job.attempt} of at most ${job.max_retries + 1}`],
    ["Workers lost", job.lost > 0 && `${job.lost} in a row`],
    ["Created", html`<${Moment} at=${job.created_at} exact />`],
    ["Due", job.due_at && html`<${Moment} at=${job.due_at} exact />`],
    ["Started", job.started_at && html`<${Moment} at=${job.started_at} exact />`],
    ["Finished", job.finished_at && html`<${Moment} at=${job.finished_at} exact />`],
    ["Waited", job.started_at && duration(between(job.due_at ?? job.created_at, job.started_at))],
    ["Ran", job.finished_at && job.started_at && duration(between(job.started_at, job.finished_at))],
    ["Worker", job.worker && html`<a href=${address("ui/jobs", { worker: job.worker })} class="mono">${job.worker}</a>`],
    ["Lease until", job.lease_until && html`<${Moment} at=${job.lease_until} />`],
    ["Timeout", job.timeout && duration(job.timeout)],
    ["Kept for", duration(job.keep)],
    ["Workflow", job.workflow && html`<a href=${to`ui/workflows/${job.workflow}`} class="mono">${job.workflow}</a>`],
    ["Depends on", job.depends_on.length > 0 && html`<${Ids} ids=${job.depends_on} />`],
    ["Waits for", job.waits_for.length > 0 && html`<${Ids} ids=${job.waits_for} />`],
    ["If these fail", job.depends_on.length > 0 && (job.orphaned === "run" ? "it runs anyway" : "it is cancelled")],
    ["Awaits signal", job.awaits],
    ["Signals", job.signals.join(", ")],
    ["Unique key", job.unique && html`<code>${job.unique}</code>`],
    ["Group", job.group],
    ["Lane", job.lane],
    ["Labels", html`<${Labels} labels=${job.labels} />`],
    ["Headers", html`<${Labels} labels=${job.headers ?? {}} />`],
    ["Fence", job.fence],
    ["Content type", job.content_type],
  ];
  return html`<dl class="facts">
    ${rows.map(([name, value]) => isThere(value) && html`<dt>${name}</dt><dd>${value}</dd>`)}
  </dl>`;
}

const isThere = (value) =>
  value !== null && value !== undefined && value !== false && value !== "" && !(value.type === Labels && !Object.keys(value.props.labels).length);

const Ids = ({ ids }) => ids.map((id) => html`<div><a class="mono" href=${to`ui/jobs/${id}`}>${id}</a></div>`);

const Labels = ({ labels }) =>
  Object.entries(labels).map(([name, value]) => html`<div><code>${name}=${value}</code></div>`);
