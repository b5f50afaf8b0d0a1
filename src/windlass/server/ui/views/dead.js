/** Dead jobs by what killed them: those whose errors are alike are one group. */
import { get, post, url } from "../api.js";
import { useCell } from "../cell.js";
import { confirm } from "../dialog.js";
import { html } from "../dom.js";
import { count, jobs as many } from "../format.js";
import { queues } from "../live.js";
import { useLoad } from "../load.js";
import { Moment } from "../parts/moment.js";
import { Page, Panel } from "../parts/page.js";
import { Empty, Loaded } from "../parts/standing.js";
import { TextField } from "../parts/textfield.js";
import { address, go, place, to } from "../router.js";
import { may } from "../session.js";
import { attempt } from "../toast.js";

const EVERY = 30_000;

export default function Dead() {
  const { query } = useCell(place);
  const filter = { queue: query.get("queue") ?? "", task: query.get("task") ?? "" };
  const found = useLoad([address("", filter)], (signal) => get("dead/groups", filter, { signal }), {
    every: EVERY,
    on: [queues],
    keep: true,
  });
  return html`<${Page} title="Dead" refresh=${found.reload}>
    <${Panel}><div class="inside"><${Filter} filter=${filter} /></div><//>
    <${Panel}>
      <${Loaded} of=${found}>
        ${({ groups, looked_at: looked, complete }) => html`${groups.length
            ? html`<${Groups} ...${{ groups, filter, after: found.reload }} />`
            : html`<${None} filter=${filter} />`}
          ${!complete && html`<p class="inside muted">Grouped are the ${count(looked)} that died last; there are more.</p>`}`}
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

function Groups({ groups, filter, after }) {
  return html`<div class="scroll">
    <table>
      <thead>
        <tr>
          <th scope="col" class="number">Jobs</th><th scope="col">Error</th><th scope="col">Task</th>
          <th scope="col">First</th><th scope="col">Last</th><th scope="col"><span class="unseen">Actions</span></th>
        </tr>
      </thead>
      <tbody>
        ${groups.map((group) => html`<${Group} key=${group.fingerprint} ...${{ group, filter, after }} />`)}
      </tbody>
    </table>
  </div>`;
}

function Group({ group, filter, after }) {
  const { fingerprint, kind, pattern, task } = group;
  const where = { fingerprint, ...(filter.queue && { queue: filter.queue }) };
  return html`<tr data-row>
    <td class="number"><a href=${address("ui/jobs", { state: "dead", ...where })} aria-label=${`Show ${many(group.count)}`}><b>${count(group.count)}</b></a></td>
    <th scope="row" class="wide-text"><a href=${to`ui/jobs/${group.sample}`} title="The one that died last">${kind}</a> <span class="muted">${pattern}</span></th>
    <td>${task}</td>
    <td class="nowrap"><${Moment} at=${group.first_at} /></td>
    <td class="nowrap"><${Moment} at=${group.last_at} /></td>
    <td class="actions">
      ${may("operate") &&
      html`<button onClick=${() => change("replay", group, where).then(after)} aria-label=${`Replay ${many(group.count)} that died of ${kind}`}>Replay</button>
        <button class="warns" onClick=${() => change("delete", group, where).then(after)} aria-label=${`Delete ${many(group.count)} that died of ${kind}`}>Delete</button>`}
      <a class="button plain" href=${url("dead/export", where)} download aria-label=${`Download ${many(group.count)} that died of ${kind}`}>Download</a>
    </td>
  </tr>`;
}

const WORDS = {
  replay: { verb: "Replay", done: "replayed", text: "They run again from their first attempt." },
  delete: { verb: "Delete", done: "deleted", text: "They are gone for good, with their errors and logs.", danger: true },
};

async function change(action, group, where) {
  const { verb, done, text, danger } = WORDS[action];
  const title = `${verb} ${many(group.count)} of ${group.task}?`;
  if (!(await confirm({ title, text: html`${text}<br /><b>${group.kind}</b> ${group.pattern}`, yes: verb, danger }))) return;
  const all = async () => {
    const total = { changed: 0, left: 0 };
    let cursor;
    do {
      const round = await post(`dead/${action}`, { ...where, cursor });
      total.changed += round.changed;
      total.left += round.left;
      cursor = round.cursor;
    } while (cursor);
    return total;
  };
  await attempt(all, ({ changed, left }) => `${many(changed)} ${done}${left ? `, ${count(left)} left as they were` : ""}.`);
}

function None({ filter }) {
  if (filter.queue || filter.task) return html`<${Empty} title="No dead job matches."><a href="ui/dead">Show all</a><//>`;
  return html`<${Empty} title="No job is dead.">
    A job that failed too often, or in a way that no retry mends, waits here until someone replays or deletes it.
  <//>`;
}
