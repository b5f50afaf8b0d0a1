/** One queue: how it stands, how fast it is, what limits it. */
import { get, path } from "../api.js";
import { useCell } from "../cell.js";
import { confirm } from "../dialog.js";
import { html } from "../dom.js";
import { compact, count, jobs as many } from "../format.js";
import { queues, workers } from "../live.js";
import { useLoad } from "../load.js";
import { JobTable } from "../parts/jobtable.js";
import { Limits } from "../parts/limits.js";
import { Since } from "../parts/moment.js";
import { Page, Panel } from "../parts/page.js";
import { PauseButton } from "../parts/queuetable.js";
import { run } from "../parts/running.js";
import { Empty, Loaded } from "../parts/standing.js";
import { Throughput } from "../parts/throughput.js";
import { address } from "../router.js";
import { useSearch } from "../search.js";
import { may } from "../session.js";
import { STATES } from "../states.js";

const EVERY = 10_000;
const SHOWN = 10;
const WAITING = ["pending", "scheduled", "retry", "blocked"];

export default function Queue({ name }) {
  // Those that have jobs come with the events; this is for the others.
  const asked = useLoad([name], (signal) => get(path`queues/${name}`, {}, { signal }), { every: EVERY });
  const line = { queue: name, state: ["active", ...WAITING], limit: SHOWN, preview: true };
  const next = useSearch([name], "jobs", line, { on: [queues] });
  const queue = useCell(queues)?.find((each) => each.name === name) ?? asked.data;
  const tools = queue && may("operate") && html`<${PauseButton} queue=${queue} /><${PurgeButton} queue=${queue} />`;
  return html`<${Page}
    title=${html`${name} ${queue?.paused && html`<span class="mark mark-warns">paused</span>`}`}
    name=${name}
    trail=${[["Queues", "ui/queues"]]}
    tools=${tools}
    refresh=${() => (asked.reload(), next.reload())}
  >
    <${Loaded} of=${{ ...asked, data: queue ?? null }} lines=${4}>${(found) => html`<${Standing} queue=${found} />`}<//>
    <${Throughput} queue=${name} />
    <${Panel} title="Limits"><${Limits} queue=${name} /><//>
    <${Panel} title="Next in line" tools=${html`<a href=${address("ui/jobs", { queue: name })}>All jobs of this queue</a>`}>
      <${Loaded} of=${next}>
        ${({ jobs }) => (jobs.length ? html`<${JobTable} jobs=${jobs} label="Next in line" />` : html`<${Empty} small title="Nothing runs or waits here." />`)}
      <//>
    <//>
  <//>`;
}

function Standing({ queue: { name, counts, oldest_at: oldest } }) {
  const crew = (useCell(workers) ?? []).filter((worker) => worker.queues.includes(name) || worker.queues.includes("*"));
  return html`<div class="tiles">
    ${STATES.map(
      (state) => html`<a class=${`tile ${counts[state] ? `tile-${state}` : ""}`} href=${address("ui/jobs", { queue: name, state })}>
        <b title=${count(counts[state])}>${compact(counts[state] ?? 0)}</b><span>${state}</span>
      </a>`,
    )}
    <div class="tile"><b><${Since} at=${oldest} /></b><span>oldest</span></div>
    <a class="tile" href="ui/workers"><b>${crew.length}</b><span>${crew.length === 1 ? "worker" : "workers"}</span></a>
  </div>`;
}

function PurgeButton({ queue: { name, counts } }) {
  const waiting = WAITING.reduce((sum, state) => sum + (counts[state] ?? 0), 0);
  const purge = async () => {
    const text = `${many(waiting)} that wait in ${name} are deleted, for good. What runs goes on.`;
    if (await confirm({ title: `Purge ${name}?`, text, yes: "Purge", danger: true, word: name }))
      await run({ action: "delete", filter: { state: WAITING, queue: name } });
  };
  return html`<button class="warns" disabled=${!waiting} onClick=${purge}>Purge</button>`;
}
