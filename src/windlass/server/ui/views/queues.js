/** All queues. */
import { get } from "../api.js";
import { useCell } from "../cell.js";
import { html } from "../dom.js";
import { queues } from "../live.js";
import { useLoad } from "../load.js";
import { Page, Panel } from "../parts/page.js";
import { QueueTable } from "../parts/queuetable.js";
import { Empty, Loaded } from "../parts/standing.js";

const EVERY = 10_000;

export default function Queues() {
  const overview = useLoad([], (signal) => get("overview", {}, { signal }), { every: EVERY });
  const live = useCell(queues);
  return html`<${Page} title="Queues" refresh=${overview.reload}>
    <${Panel}>
      <${Loaded} of=${{ ...overview, data: overview.data && live }}>
        ${(found) => html`<${QueueTable} queues=${found} more=${overview.data.queues}>
          <${Empty} title="No queue has been used yet.">A queue is there from its first job on.<//>
        <//>`}
      <//>
    <//>
  <//>`;
}
