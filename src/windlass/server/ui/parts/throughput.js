/** What was done in the last minutes, hour or day, and how long it waited and ran. */
import { get } from "../api.js";
import { TimeChart } from "../chart.js";
import { html, useState } from "../dom.js";
import { duration } from "../format.js";
import { useLoad } from "../load.js";
import { columns } from "../series.js";
import { Panel } from "./page.js";
import { Loaded } from "./standing.js";

const MINUTE = 60_000;
const SPANS = {
  live: { name: "10 min", asks: "hour", long: 10 * MINUTE, every: 5_000, most: 60 },
  hour: { name: "Hour", asks: "hour", long: 60 * MINUTE, every: 15_000, most: 120 },
  day: { name: "Day", asks: "day", long: 24 * 60 * MINUTE, every: 60_000, most: 144 },
};
const LINES = [
  { key: "completed", name: "Completed" },
  { key: "failed", name: "Failed attempts" },
];

/** @param {{queue?: string}} props all queues together, if none is named */
export function Throughput({ queue }) {
  const [span, setSpan] = useState("hour");
  const { asks, long, every, most } = SPANS[span];
  const stats = useLoad([queue, asks], (signal) => get("stats", { span: asks, queue }, { signal }), { every });
  const choose = html`<div class="segments" role="group" aria-label="Time shown">
    ${Object.entries(SPANS).map(
      ([key, { name }]) => html`<button aria-pressed=${span === key} onClick=${() => setSpan(key)}>${name}</button>`,
    )}
  </div>`;
  return html`<${Panel} title="Throughput" tools=${choose}>
    <${Loaded} of=${stats} lines=${8}>
      ${(found) => {
        const until = Date.parse(found.until);
        const shape = { step: found.step * 1000, since: until - long, until, keys: LINES.map(({ key }) => key), most };
        return html`<div class="throughput">
          <${TimeChart} name="Throughput" lines=${LINES} columns=${columns(found.points, shape)} />
          <${Percentiles} stats=${found} span=${asks} />
        </div>`;
      }}
    <//>
  <//>`;
}

function Percentiles({ stats, span }) {
  const rows = [
    ["Waited", stats.wait],
    ["Ran", stats.run],
  ];
  return html`<table class="percentiles">
    <caption>Time waited and run, last ${span}</caption>
    <thead>
      <tr><td></td><th scope="col" class="number">half</th><th scope="col" class="number">95 %</th><th scope="col" class="number">99 %</th></tr>
    </thead>
    <tbody>
      ${rows.map(
        ([name, found]) => html`<tr>
          <th scope="row">${name}</th>
          ${["p50", "p95", "p99"].map((key) => html`<td class="number">${duration(found[key])}</td>`)}
        </tr>`,
      )}
    </tbody>
  </table>`;
}
