/** What happens now, and what needs somebody. */
import { get } from "../api.js";
import { useCell } from "../cell.js";
import { html } from "../dom.js";
import { compact, count } from "../format.js";
import { queues, totals, workers } from "../live.js";
import { useLoad } from "../load.js";
import { Page, Panel } from "../parts/page.js";
import { QueueTable } from "../parts/queuetable.js";
import { Empty, Loaded } from "../parts/standing.js";
import { Throughput } from "../parts/throughput.js";
import { address } from "../router.js";

/** A look at everything takes a while; what changes by the second comes with the events. */
const EVERY = 10_000;

export default function Overview() {
  const overview = useLoad([], (signal) => get("overview", {}, { signal }), { every: EVERY });
  const found = useCell(queues);
  return html`<${Page} title="Overview" refresh=${overview.reload}>
    <${Loaded} of=${overview} lines=${2}>${(data) => html`<${Attention} found=${data.attention} />`}<//>
    <${Tiles} counts=${totals(found)} />
    <${Throughput} />
    <${Panel} title="Queues">
      <${Loaded} of=${{ ...overview, data: overview.data && found }}>
        ${(shown) => html`<${QueueTable} queues=${shown} more=${overview.data.queues}><${FirstJob} /><//>`}
      <//>
    <//>
  <//>`;
}

function Attention({ found }) {
  if (!found.length) return html`<p class="all-well">Nothing needs attention.</p>`;
  return html`<section class="attention" aria-labelledby="attention">
    <h2 id="attention">Needs attention</h2>
    <ul>
      ${found.map(({ text, link }) => html`<li>${text} ${link && html`<a href=${link}>Look</a>`}</li>`)}
    </ul>
  </section>`;
}

function Tiles({ counts }) {
  const crew = useCell(workers) ?? [];
  const busy = crew.reduce((sum, worker) => sum + worker.active, 0);
  const slots = crew.reduce((sum, worker) => sum + worker.concurrency, 0);
  const states = ["active", "pending", "scheduled", "retry", "dead"];
  return html`<div class="tiles">
    ${states.map(
      (state) => html`<a class=${`tile ${counts[state] ? `tile-${state}` : ""}`} href=${address("ui/jobs", { state })}>
        <b title=${count(counts[state])}>${compact(counts[state] ?? 0)}</b><span>${state}</span>
      </a>`,
    )}
    <a class="tile" href="ui/workers">
      <b>${compact(busy)}<small>/${compact(slots)}</small></b><span>busy slots</span>
    </a>
  </div>`;
}

const FirstJob = () =>
  html`<${Empty} title="No queue has been used yet.">
    A queue is there from its first job on: <code>task.enqueue(…)</code> in Python, or
    <a href="ui/enqueue">enqueue one here</a>.
  <//>`;
