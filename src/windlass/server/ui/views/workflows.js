/** Workflows, newest first within each state. */
import { useCell } from "../cell.js";
import { html } from "../dom.js";
import { between, count, duration } from "../format.js";
import { queues } from "../live.js";
import { Moment, Since } from "../parts/moment.js";
import { Page, Panel } from "../parts/page.js";
import { Searching, SearchPager } from "../parts/searching.js";
import { Empty, Loaded } from "../parts/standing.js";
import { State } from "../parts/state.js";
import { address, go, place, to } from "../router.js";
import { useSearch } from "../search.js";
import { STATES } from "../states.js";

const PAGE = 50;
const GOING = ["active", "pending", "scheduled", "retry", "blocked"];
const CHOICES = [
  ["All", []],
  ["Going on", GOING],
  ["Completed", ["completed"]],
  ["Dead", ["dead"]],
  ["Cancelled", ["cancelled"]],
];

export default function Workflows() {
  const { query } = useCell(place);
  const filter = { state: query.getAll("state") };
  const cursor = query.get("cursor");
  const asked = { state: filter.state.length ? filter.state : STATES, limit: PAGE, cursor };
  const list = useSearch([address("", filter), cursor], "workflows", asked, { on: [queues] });
  const choose = html`<div class="segments" role="group" aria-label="Shown">
    ${CHOICES.map(
      ([name, states]) => html`<button
        aria-pressed=${states.join() === filter.state.join()}
        onClick=${() => go(address("ui/workflows", { state: states }))}
      >
        ${name}
      </button>`,
    )}
  </div>`;
  return html`<${Page} title="Workflows" tools=${choose} refresh=${list.reload}>
    <${Panel}>
      <${Loaded} of=${list}>
        ${({ jobs }) => html`<${Searching} list=${list} />
          ${jobs.length ? html`<${Table} jobs=${jobs} />` : !list.going && html`<${None} all=${!filter.state.length} />`}
          <${SearchPager} ...${{ list, path: "ui/workflows", filter, cursor }} />`}
      <//>
    <//>
  <//>`;
}

const Table = ({ jobs }) =>
  html`<div class="scroll">
    <table class="cards">
      <thead>
        <tr>
          <th scope="col">State</th><th scope="col">Workflow</th><th scope="col">Queue</th>
          <th scope="col" class="number">Waits for</th><th scope="col" class="number">Created</th>
          <th scope="col" class="number">Took</th><th scope="col">Detail</th>
        </tr>
      </thead>
      <tbody>
        ${jobs.map(
          (job) => html`<tr key=${job.id} data-row>
            <td><${State} state=${job.state} /></td>
            <th scope="row"><a class="mono" href=${to`ui/workflows/${job.id}`}>${job.id}</a></th>
            <td data-label="queue">${job.queue}</td>
            <td class="number" data-label="waits for">${job.waits_for.length ? `${count(job.waits_for.length)} steps` : ""}</td>
            <td class="number" data-label="created"><${Moment} at=${job.created_at} /></td>
            <td class="number" data-label="took">
              ${job.finished_at ? duration(between(job.created_at, job.finished_at)) : html`<${Since} at=${job.created_at} />`}
            </td>
            <td class="whole">${job.error && html`<span class="clip" title=${job.error.message}>${job.error.message}</span>`}</td>
          </tr>`,
        )}
      </tbody>
    </table>
  </div>`;

const None = ({ all }) =>
  all
    ? html`<${Empty} title="There are no workflows.">
        Chains, groups and graphs of jobs show up here: <code>app.enqueue_workflow(chain(…))</code>
      <//>`
    : html`<${Empty} title="No workflow is in this state."><a href="ui/workflows">Show all</a><//>`;
