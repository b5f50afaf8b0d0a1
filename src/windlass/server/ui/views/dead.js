/** Dead jobs by what killed them: those whose errors are alike are one group. */
import { get, url } from "../api.js";
import { ACTIONS } from "../bulk.js";
import { useCell } from "../cell.js";
import { confirm } from "../dialog.js";
import { html } from "../dom.js";
import { count, jobs } from "../format.js";
import { deaths, queues, totals } from "../live.js";
import { useLoad } from "../load.js";
import { Moment } from "../parts/moment.js";
import { Page, Panel } from "../parts/page.js";
import { run } from "../parts/running.js";
import { Empty, Loaded } from "../parts/standing.js";
import { TextField } from "../parts/textfield.js";
import { address, go, place, to } from "../router.js";
import { may } from "../session.js";

const EVERY = 30_000;

export default function Dead() {
  const { query } = useCell(place);
  const filter = { queue: query.get("queue") ?? "", task: query.get("task") ?? "" };
  const found = useLoad([address("", filter)], (signal) => get("dead/groups", filter, { signal }), {
    every: EVERY,
    on: [deaths],
    keep: true,
  });
  return html`<${Page} title="Dead" refresh=${found.reload}>
    <${Panel}><div class="inside"><${Filter} filter=${filter} /></div><//>
    <${Panel}>
      <${Loaded} of=${found}>
        ${(data) => html`<${Partly} ...${{ data, queue: filter.queue, task: filter.task }} />
          ${data.groups.length ? html`<${Groups} ...${{ data, filter, after: found.reload }} />` : html`<${None} filter=${filter} />`}`}
      <//>
    <//>
  <//>`;
}

function Filter({ filter }) {
  const set = (name) => (text) => go(address("ui/dead", { ...filter, [name]: text }));
  return html`<form role="search" class="fields" onSubmit=${(event) => event.preventDefault()}>
    <${TextField} label="Queue" value=${filter.queue} commit=${set("queue")} search />
    <${TextField} label="Task" value=${filter.task} commit=${set("task")} />
  </form>`;
}

/** That the look ended before the last dead job: there may be more of each group, and more groups. */
function Partly({ data: { looked_at: looked, complete }, queue, task }) {
  const dead = totals(useCell(queues)?.filter(({ name }) => !queue || name === queue)).dead ?? 0;
  if (complete) return null;
  const all = task || dead <= looked ? "" : ` of ${count(dead)}`;
  return html`<p class="stale" role="status">
    Looked at the ${count(looked)}${all} that died last: each group has at least as many as it says, and there may be others.
  </p>`;
}

function Groups({ data: { groups, complete }, filter, after }) {
  return html`<div class="scroll">
    <table class="cards">
      <thead>
        <tr>
          <th scope="col" class="number">Jobs</th><th scope="col">Error</th><th scope="col">Task</th>
          <th scope="col">First</th><th scope="col">Last</th><th scope="col"><span class="unseen">Actions</span></th>
        </tr>
      </thead>
      <tbody>
        ${groups.map((group) => html`<${Group} key=${group.fingerprint} ...${{ group, complete, filter, after }} />`)}
      </tbody>
    </table>
  </div>`;
}

function Group({ group, complete, filter, after }) {
  const { fingerprint, kind, pattern, task } = group;
  const where = { fingerprint, ...(filter.queue && { queue: filter.queue }) };
  const many = complete ? jobs(group.count) : `at least ${jobs(group.count)}`;
  const act = (action) => change(action, group, many, where).then(after);
  return html`<tr data-row>
    <td class="number" data-label="jobs">
      <a href=${address("ui/jobs", { state: "dead", ...where })} aria-label=${`Show ${many}`} title=${many}>
        ${!complete && html`<span class="muted">≥ </span>`}<b>${count(group.count)}</b>
      </a>
    </td>
    <th scope="row" class="wide-text"><a href=${to`ui/jobs/${group.sample}`} title="The one that died last">${kind}</a> <span class="muted">${pattern}</span></th>
    <td data-label="task">${task}</td>
    <td class="nowrap" data-label="first"><${Moment} at=${group.first_at} /></td>
    <td class="nowrap" data-label="last"><${Moment} at=${group.last_at} /></td>
    <td class="actions">
      ${may("operate") &&
      html`<button onClick=${() => act("replay")} aria-label=${`Replay ${many} that died of ${kind}`}>Replay</button>
        <button class="warns" onClick=${() => act("delete")} aria-label=${`Delete ${many} that died of ${kind}`}>Delete</button>`}
      <a class="button plain" href=${url("dead/export", where)} download aria-label=${`Download ${many} that died of ${kind}`}>Download</a>
    </td>
  </tr>`;
}

const WHAT = {
  replay: "They run again from their first attempt.",
  delete: "They are gone for good, with their errors and logs.",
};

async function change(action, group, many, where) {
  const { verb, danger } = ACTIONS[action];
  const text = html`${WHAT[action]}<br /><b>${group.kind}</b> ${group.pattern}`;
  if (!(await confirm({ title: `${verb} ${many} of ${group.task}?`, text, yes: verb, danger }))) return;
  await run({ action, filter: { state: ["dead"], ...where } });
}

function None({ filter }) {
  if (filter.queue || filter.task) return html`<${Empty} title="No dead job matches."><a href="ui/dead">Show all</a><//>`;
  return html`<${Empty} title="No job is dead.">
    A job that failed too often, or in a way that no retry mends, waits here until someone replays or deletes it.
  <//>`;
}
