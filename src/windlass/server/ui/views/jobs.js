/** Jobs that match a filter, page by page. */
import { useCell } from "../cell.js";
import { html, useState } from "../dom.js";
import { eligible, filterOf, isOpen, matching } from "../filter.js";
import { queues } from "../live.js";
import { BulkBar } from "../parts/bulkbar.js";
import { FilterBar } from "../parts/filterbar.js";
import { JobTable } from "../parts/jobtable.js";
import { Page, Panel } from "../parts/page.js";
import { Searching, SearchPager } from "../parts/searching.js";
import { Empty, Loaded } from "../parts/standing.js";
import { address, go, place } from "../router.js";
import { useSearch } from "../search.js";
import { useSelection } from "../selection.js";
import { may } from "../session.js";
import { STATES } from "../states.js";

const PAGE = 50;
const LASTING = "A search that took more than one look is not begun anew at every change.";

export default function Jobs() {
  const { query } = useCell(place);
  const [live, setLive] = useState(true);
  const [filter, cursor, all] = [filterOf(query), query.get("cursor"), useCell(queues)];
  const about = address("", filter);
  const asked = { ...filter, state: filter.state.length ? filter.state : STATES, limit: PAGE, cursor, preview: true };
  const list = useSearch([about, cursor], "jobs", asked, { on: [queues], still: !live || Boolean(cursor) });
  const follows = live && !cursor && !list.lasting;
  const jobs = list.data?.jobs ?? [];
  const selection = useSelection(jobs, about);
  const total = matching(filter, all);
  const tools = html`${!follows && html`<button onClick=${list.reload}>Refresh</button>`}
    <button aria-pressed=${follows} disabled=${Boolean(cursor) || list.lasting} title=${list.lasting ? LASTING : undefined} onClick=${() => setLive(!live)}>
      Follow changes
    </button>`;
  return html`<${Page} title="Jobs" tools=${tools} refresh=${list.reload}>
    <${Panel}>
      <div class="inside"><${FilterBar} filter=${filter} change=${(changed) => go(address("ui/jobs", changed))} /></div>
    <//>
    <${Panel}>
      <${Loaded} of=${list} lines=${12}>
        ${(found) => html`<${Searching} list=${list} of=${cursor ? null : eligible(filter, all)} />
          ${jobs.length > 0
            ? html`<${JobTable} jobs=${jobs} selection=${may("operate") ? selection : undefined} />`
            : !list.going && html`<${NoJobs} filter=${filter} more=${found.cursor} />`}
          <${SearchPager} ...${{ list, path: "ui/jobs", filter, cursor, total }} />`}
      <//>
    <//>
    ${may("operate") && html`<${BulkBar} ...${{ selection, jobs, filter, total, after: list.reload }} />`}
  <//>`;
}

function NoJobs({ filter, more }) {
  if (more) return html`<${Empty} title="None so far.">The search was stopped before the end.<//>`;
  if (isOpen(filter))
    return html`<${Empty} title="There are no jobs.">
      Jobs show up here when a task is enqueued, and stay until they are kept long enough.
    <//>`;
  return html`<${Empty} title="No job matches this filter."><a href="ui/jobs">Show all jobs</a><//>`;
}
