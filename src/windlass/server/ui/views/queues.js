/** All queues. */
import { get } from "../api.js";
import { useCell } from "../cell.js";
import { html } from "../dom.js";
import { queues } from "../live.js";
import { useLoad } from "../load.js";
import { Page, Panel } from "../parts/page.js";
import { QueueTable } from "../parts/queuetable.js";
import { Empty, Loaded } from "../parts/standing.js";
import { TextField } from "../parts/textfield.js";
import { address, go, place } from "../router.js";

const EVERY = 10_000;
const FEW = 15;

export default function Queues() {
  const overview = useLoad([], (signal) => get("overview", {}, { signal }), { every: EVERY });
  const live = useCell(queues);
  const part = useCell(place).query.get("name") ?? "";
  const look = (name) => go(address("ui/queues", { name }));
  const isMany = part || live?.length > FEW;
  return html`<${Page} title="Queues" refresh=${overview.reload}>
    ${isMany && html`<${Panel}><div class="inside fields"><${TextField} label="Name" value=${part} hint="a part of it" commit=${look} search /></div><//>`}
    <${Panel}>
      <${Loaded} of=${{ ...overview, data: overview.data && live }}>
        ${(found) => html`<${QueueTable} queues=${found.filter(({ name }) => name.includes(part))} more=${overview.data.queues}>
          ${found.length
            ? html`<${Empty} title="No queue has this in its name."><a href="ui/queues">Show all</a><//>`
            : html`<${Empty} title="No queue has been used yet.">A queue is there from its first job on.<//>`}
        <//>`}
      <//>
    <//>
  <//>`;
}
