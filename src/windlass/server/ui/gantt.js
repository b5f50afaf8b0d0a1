/** When each step of a workflow waited and ran. */
import { useCell } from "./cell.js";
import { clock } from "./clock.js";
import { html } from "./dom.js";
import { between, count, duration, exactTime } from "./format.js";
import { to } from "./router.js";
import { State } from "./parts/state.js";

const MOST = 150;

/** @param {{jobs: object[]}} props */
export function Gantt({ jobs }) {
  const now = useCell(clock);
  const started = jobs.filter((job) => job.started_at).sort((a, b) => (a.started_at < b.started_at ? -1 : 1));
  if (!started.length) return html`<p class="inside muted">No step has run yet.</p>`;
  const first = Math.min(...started.map((job) => Date.parse(job.due_at ?? job.created_at)));
  const last = Math.max(...started.map((job) => (job.finished_at ? Date.parse(job.finished_at) : now)), first + 1);
  return html`<div class="inside">
    <p class="muted gantt-axis"><span>${exactTime(first)}</span><span>${duration((last - first) / 1000)}</span><span>${exactTime(last)}</span></p>
    <ol class="gantt" aria-label="Steps by when they ran">
      ${started.slice(0, MOST).map((job) => html`<${Bar} key=${job.id} ...${{ job, first, last, now }} />`)}
    </ol>
    ${started.length > MOST && html`<p class="muted">Shown are the first ${MOST} of ${count(started.length)}.</p>`}
  </div>`;
}

function Bar({ job, first, last, now }) {
  const percent = (at) => `${((Math.min(Math.max(at, first), last) - first) / (last - first)) * 100}%`;
  const [due, from] = [Date.parse(job.due_at ?? job.created_at), Date.parse(job.started_at)];
  const until = job.finished_at ? Date.parse(job.finished_at) : now;
  const span = (a, b) => ({ left: percent(a), width: `calc(${percent(b)} - ${percent(a)})` });
  const ran = duration((until - from) / 1000);
  return html`<li>
    <a class="clip" href=${to`ui/jobs/${job.id}`}>${job.task}</a>
    <span class="track">
      <span class="waited" style=${span(due, from)}></span>
      <span class=${`ran fill-${job.state}`} style=${span(from, until)}></span>
    </span>
    <span class="number" title=${`waited ${duration(between(job.due_at ?? job.created_at, job.started_at))}`}>${ran}</span>
    <${State} state=${job.state} />
  </li>`;
}
