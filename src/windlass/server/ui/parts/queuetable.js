/** Queues in a table: how full, how old, how fast. */
import { get, path, post } from "../api.js";
import { Sparkline } from "../chart.js";
import { html } from "../dom.js";
import { compact, count, duration } from "../format.js";
import { useLoad } from "../load.js";
import { columns, sum } from "../series.js";
import { may } from "../session.js";
import { address, to } from "../router.js";
import { attempt } from "../toast.js";
import { Amount, Depth } from "./state.js";

const OLD = 60;
const MINUTE = 60_000;

/**
 * @param {{queues: object[], more?: object[]}} props `more`: what is known of them besides, by name;
 *   the children are shown if there are no queues
 */
export function QueueTable({ queues, more = [], children }) {
  if (!queues.length) return children;
  const known = Object.fromEntries(more.map((each) => [each.name, each]));
  return html`<div class="scroll">
    <table>
      <thead>
        <tr>
          <th scope="col">Queue</th>
          <th scope="col">Depth</th>
          ${["Active", "Pending", "Scheduled", "Retry", "Blocked", "Dead"].map((name) => html`<th scope="col" class="number">${name}</th>`)}
          <th scope="col" class="number">Oldest waits</th>
          <th scope="col" class="number">Done / min</th>
          <th scope="col" class="number">Workers</th>
          ${may("operate") && html`<th scope="col"><span class="unseen">Actions</span></th>`}
        </tr>
      </thead>
      <tbody>
        ${queues.map((queue) => html`<${Row} key=${queue.name} queue=${queue} more=${known[queue.name]} />`)}
      </tbody>
    </table>
  </div>`;
}

function Row({ queue, more }) {
  const { name, counts, paused, age } = queue;
  const number = (state) => html`<td class="number">
    ${counts[state]
      ? html`<a href=${address("ui/jobs", { queue: name, state })}><${Amount} value=${counts[state]} /></a>`
      : html`<${Amount} value=${0} />`}
  </td>`;
  return html`<tr data-row>
    <th scope="row">
      <a href=${to`ui/queues/${name}`}>${name}</a> ${paused && html`<span class="mark mark-warns">paused</span>`}
    </th>
    <td><${Depth} counts=${counts} /></td>
    ${["active", "pending", "scheduled", "retry", "blocked", "dead"].map(number)}
    <td class=${`number ${age > OLD ? "wrong" : ""}`}>${age ? duration(age) : html`<span class="zero">–</span>`}</td>
    <td class="number"><${Rate} queue=${name} rate=${more?.rate} /></td>
    <td class="number">${more?.workers ?? ""}</td>
    ${may("operate") && html`<td class="actions"><${PauseButton} queue=${queue} /></td>`}
  </tr>`;
}

/** How many were completed in the last minute, and in the half hour before. */
function Rate({ queue, rate }) {
  const stats = useLoad([queue], (signal) => get("stats", { span: "hour", queue }, { signal }), { every: MINUTE });
  if (!stats.data) return html`<span class="zero" aria-busy=${stats.loading}>–</span>`;
  const until = Date.parse(stats.data.until);
  const shape = { step: stats.data.step * 1000, since: until - 30 * MINUTE, until, keys: ["completed"], most: 30 };
  const { completed } = columns(stats.data.points, shape).values;
  const label = `${count(sum(completed))} completed in the last half hour`;
  return html`<span class="rate"><${Sparkline} values=${completed} label=${label} /> <b>${compact(Math.round(rate ?? completed.at(-1)))}</b></span>`;
}

/** Pauses a queue, or lets it go on. */
export function PauseButton({ queue: { name, paused } }) {
  const act = () =>
    attempt(
      () => post(paused ? path`queues/${name}/resume` : path`queues/${name}/pause`),
      paused ? `Workers claim from ${name} again.` : `${name} is paused: what runs goes on, nothing new starts.`,
    );
  const verb = paused ? "Resume" : "Pause";
  return html`<button onClick=${act} aria-label=${`${verb} the queue ${name}`}>${verb}</button>`;
}
