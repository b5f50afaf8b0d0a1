/** Jobs that are over, searched in the database that keeps them. */
import { useCell } from "../cell.js";
import { html } from "../dom.js";
import { fromLocal, toLocal } from "../filter.js";
import { JobTable } from "../parts/jobtable.js";
import { Page, Panel } from "../parts/page.js";
import { Pager } from "../parts/pager.js";
import { Empty, Loaded } from "../parts/standing.js";
import { TextField } from "../parts/textfield.js";
import { address, go, place, to } from "../router.js";
import { useSearch } from "../search.js";
import { me } from "../session.js";
import { FINISHED } from "../states.js";

const PAGE = 50;
const TEXTS = [
  ["task", "Task", "any"],
  ["queue", "Queue", "any"],
  ["error", "Error", "a part of its type or text"],
  ["label", "Label", "name=value"],
  ["min_duration", "Ran at least, seconds", "0"],
];
const SORTS = { finished: "Finished", created: "Created", duration: "Duration" };

export default function History() {
  return useCell(me)?.history === false ? html`<${Off} />` : html`<${Kept} />`;
}

function Kept() {
  const { query } = useCell(place);
  const filter = { state: query.getAll("state"), sort: query.get("sort") ?? "", since: query.get("since") ?? "", until: query.get("until") ?? "" };
  for (const [name] of TEXTS) filter[name] = query.get(name) ?? "";
  const cursor = query.get("cursor");
  const asked = { ...filter, limit: PAGE, cursor, preview: true };
  const list = useSearch([address("", filter), cursor], "history", asked, { on: [], still: true });
  const tools = html`<button onClick=${list.reload}>Refresh</button>`;
  return html`<${Page} title="History" tools=${tools} refresh=${list.reload}>
    <${Panel}><div class="inside"><${Search} filter=${filter} /></div><//>
    <${Panel}>
      <${Loaded} of=${list} lines=${12}>
        ${({ jobs, cursor: next }) => html`${jobs.length
            ? html`<${JobTable} jobs=${jobs} label="Jobs of the past" href=${(job) => to`ui/history/${job.id}`} />`
            : html`<${Empty} title="Nothing was found.">Jobs come here moments after they are over.<//>`}
          <${Pager} ...${{ path: "ui/history", filter, cursor, next, shown: jobs.length }} />`}
      <//>
    <//>
  <//>`;
}

function Search({ filter }) {
  const change = (name, value) => go(address("ui/history", { ...filter, [name]: value }));
  const toggle = (state) =>
    change("state", filter.state.includes(state) ? filter.state.filter((each) => each !== state) : [...filter.state, state]);
  return html`<form class="filter" role="search" onSubmit=${(event) => event.preventDefault()}>
    <div class="chips" role="group" aria-label="States">
      ${FINISHED.map(
        (state) => html`<button type="button" class=${`chip state-${state}`} aria-pressed=${filter.state.includes(state)} onClick=${() => toggle(state)}>${state}</button>`,
      )}
    </div>
    <div class="fields">
      ${TEXTS.map(
        ([name, label, hint], index) =>
          html`<${TextField} key=${name} ...${{ label, hint, value: filter[name], commit: (text) => change(name, text), search: !index }} />`,
      )}
      ${["since", "until"].map(
        (name) => html`<label class="field">
          <span>Finished ${name}</span>
          <input type="datetime-local" value=${toLocal(filter[name])} onChange=${(event) => change(name, fromLocal(event.target.value))} />
        </label>`,
      )}
      <label class="field">
        <span>Sorted by</span>
        <select value=${filter.sort || "finished"} onChange=${(event) => change("sort", event.target.value)}>
          ${Object.entries(SORTS).map(([key, name]) => html`<option value=${key} selected=${key === filter.sort}>${name}</option>`)}
        </select>
      </label>
    </div>
  </form>`;
}

const Off = () =>
  html`<${Page} title="History">
    <${Panel}>
      <${Empty} title="No history is kept.">
        Finished jobs can be kept in SQLite, PostgreSQL or MySQL and searched here, for as long as you like:
        give the app a <code>history</code>.
      <//>
    <//>
  <//>`;
