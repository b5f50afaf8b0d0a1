/** The workers that are alive: what they serve, how busy they are. */
import { get, path, post } from "../api.js";
import { confirm } from "../dialog.js";
import { html, useState } from "../dom.js";
import { count, jobs as many, size } from "../format.js";
import { workers } from "../live.js";
import { useLoad } from "../load.js";
import { Moment, Since } from "../parts/moment.js";
import { Page, Panel } from "../parts/page.js";
import { Empty, Loaded } from "../parts/standing.js";
import { address, to } from "../router.js";
import { useSearch } from "../search.js";
import { may } from "../session.js";
import { attempt } from "../toast.js";

const EVERY = 5_000;
const SHOWN = 100;

export default function Workers() {
  const list = useLoad([], (signal) => get("workers", {}, { signal }), { on: [workers], every: EVERY });
  return html`<${Page} title="Workers" refresh=${list.reload}>
    <${Panel}>
      <${Loaded} of=${list}>
        ${({ workers: crew }) =>
          crew.length
            ? html`<div class="scroll">
                <table class="cards">
                  <thead>
                    <tr>
                      <th scope="col">Worker</th><th scope="col">Queues</th><th scope="col">Busy slots</th>
                      <th scope="col">Runs now</th><th scope="col" class="number">Completed</th>
                      <th scope="col" class="number">Failed</th><th scope="col" class="number">Memory</th>
                      <th scope="col" class="number">Started</th><th scope="col" class="number">Heard of</th>
                      ${may("operate") && html`<th scope="col"><span class="unseen">Actions</span></th>`}
                    </tr>
                  </thead>
                  <tbody>
                    ${crew.map((worker) => html`<${Row} key=${worker.id} worker=${worker} />`)}
                  </tbody>
                </table>
              </div>`
            : html`<${Empty} title="No worker is running.">
                Jobs wait until one does: <code>windlass worker shop:app</code>
              <//>`}
      <//>
    <//>
  <//>`;
}

function Row({ worker }) {
  const { id, host, pid, queues, active, concurrency, memory, fault, completed, failed } = worker;
  return html`<tr data-row>
    <th scope="row">
      <span title=${id}>${host} <span class="muted">pid ${pid}</span></span> ${told(worker) && html`<span class="mark mark-warns">${told(worker)}</span>`} ${fault && html`<span class="mark mark-warns">${fault}</span>`}
    </th>
    <td class="wide-text" data-label="queues">
      ${queues.map((name, index) => html`${index > 0 && ", "}${name === "*" ? "all" : html`<a class="quiet" href=${to`ui/queues/${name}`}>${name}</a>`}`)}
    </td>
    <td class="whole">
      <span class="slots"><progress class="progress" max=${concurrency} value=${active} aria-label="Busy slots"></progress> ${count(active)} of ${count(concurrency)}</span>
    </td>
    <td data-label="runs now"><${Running} worker=${worker} /></td>
    <td class="number" data-label="completed">${count(completed)}</td>
    <td class="number" data-label="failed">${count(failed)}</td>
    <td class="number" data-label="memory">${size(memory)}</td>
    <td class="number" data-label="started"><${Moment} at=${worker.started_at} /></td>
    <td class="number" data-label="heard of"><${Moment} at=${worker.seen_at} /></td>
    ${may("operate") && html`<td class="actions"><${Orders} worker=${worker} /></td>`}
  </tr>`;
}

/** Whether it is to claim jobs, by the order that stands or else by its own word. */
const claims = ({ order, quiet }) => (order ? order === "work" : !quiet);

/** Whether it claims jobs, and what it was told and has not followed yet. */
function told(worker) {
  if (worker.order === "stop") return "told to stop";
  if (claims(worker) === !worker.quiet) return worker.quiet ? "quiet" : "";
  return claims(worker) ? "told to work" : "told to be quiet";
}

/** What it runs; asked for when somebody wants to see it. */
function Running({ worker: { id, active } }) {
  const [open, setOpen] = useState(false);
  if (!active && !open) return html`<span class="muted">nothing</span>`;
  return html`<details class="runs" open=${open} onToggle=${(event) => setOpen(event.currentTarget.open)}>
    <summary>${many(active)}</summary>
    ${open && html`<${Runs} worker=${id} />`}
  </details>`;
}

function Runs({ worker }) {
  const asked = { state: "active", worker, limit: SHOWN };
  const list = useSearch([worker], "jobs", asked, { on: [workers] });
  return html`<${Loaded} of=${list} lines=${2}>
    ${({ jobs, cursor }) => html`<ul>
        ${jobs.map((job) => html`<li key=${job.id}><a href=${to`ui/jobs/${job.id}`}>${job.task}</a> <span class="muted"><${Since} at=${job.started_at} /></span></li>`)}
      </ul>
      ${cursor && html`<a href=${address("ui/jobs", { state: "active", worker })}>All of them</a>`}`}
  <//>`;
}

function Orders({ worker }) {
  const { id, host, pid } = worker;
  const name = `${host} ${pid}`;
  const order = (verb, said) => attempt(() => post(`${path`workers/${id}`}/${verb}`), said);
  const stop = async () => {
    const text = "It claims nothing more, finishes what runs, and ends. Whoever supervises it may start another.";
    if (await confirm({ title: `Stop the worker ${name}?`, text, yes: "Stop the worker", danger: true })) await order("stop", `${name} stops within seconds.`);
  };
  return html`${!claims(worker)
      ? html`<button onClick=${() => order("resume", `${name} goes on within seconds.`)} aria-label=${`Resume the worker ${name}`}>Resume</button>`
      : html`<button onClick=${() => order("quiet", `${name} claims nothing more within seconds.`)} aria-label=${`Quiet the worker ${name}`}>Quiet</button>`}
    <button class="warns" onClick=${stop} aria-label=${`Stop the worker ${name}`}>Stop</button>`;
}
