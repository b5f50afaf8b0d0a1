/** Jobs that match a filter, page by page. */
import { get } from "../api.js";
import { Cell, useCell } from "../cell.js";
import { html, useState } from "../dom.js";
import { filterOf, isOpen, matching } from "../filter.js";
import { queues } from "../live.js";
import { useLoad } from "../load.js";
import { BulkBar } from "../parts/bulkbar.js";
import { FilterBar } from "../parts/filterbar.js";
import { JobTable } from "../parts/jobtable.js";
import { Page, Panel } from "../parts/page.js";
import { Pager } from "../parts/pager.js";
import { Empty, Loaded } from "../parts/standing.js";
import { address, go, place } from "../router.js";
import { useSelection } from "../selection.js";
import { may } from "../session.js";
import { STATES } from "../states.js";

const PAGE = 50;
const STILL = new Cell(null);

export default function Jobs() {
  const { query } = useCell(place);
  const [live, setLive] = useState(true);
  const filter = filterOf(query);
  const cursor = query.get("cursor");
  const about = address("", filter);
  const follows = live && !cursor;
  const asked = { ...filter, state: filter.state.length ? filter.state : STATES };
  const ask = (signal) => get("jobs", { ...asked, limit: PAGE, cursor }, { signal });
  const list = useLoad([about, cursor], ask, { keep: true, on: [follows ? queues : STILL] });
  const jobs = list.data?.jobs ?? [];
  const selection = useSelection(jobs, about);
  const total = matching(filter, useCell(queues));
  const toggle = html`<button aria-pressed=${follows} disabled=${Boolean(cursor)} onClick=${() => setLive(!live)}>Follow changes</button>`;
  return html`<${Page} title="Jobs" tools=${toggle} refresh=${list.reload}>
    <${Panel}>
      <div class="inside"><${FilterBar} filter=${filter} change=${(changed) => go(address("ui/jobs", changed))} /></div>
    <//>
    <${Panel}>
      <${Loaded} of=${list} lines=${12}>
        ${(found) => html`${found.jobs.length > 0
            ? html`<${JobTable} jobs=${found.jobs} selection=${may("operate") ? selection : undefined} />`
            : html`<${NoJobs} filter=${filter} more=${found.cursor} />`}
          <${Pager} ...${{ path: "ui/jobs", filter, cursor, next: found.cursor, shown: found.jobs.length, total }} />`}
      <//>
    <//>
    ${may("operate") && html`<${BulkBar} ...${{ selection, jobs, filter, total, after: list.reload }} />`}
  <//>`;
}

function NoJobs({ filter, more }) {
  if (more) return html`<${Empty} title="None so far.">The search goes on behind the next page.<//>`;
  if (isOpen(filter))
    return html`<${Empty} title="There are no jobs.">
      Jobs show up here when a task is enqueued, and stay until they are kept long enough.
    <//>`;
  return html`<${Empty} title="No job matches this filter."><a href="ui/jobs">Show all jobs</a><//>`;
}
