/** Queues in a table: how full, how old, how fast. */
import { get, path, post } from "../api.js";
import { useCell } from "../cell.js";
import { Sparkline } from "../chart.js";
import { clock } from "../clock.js";
import { html, useState } from "../dom.js";
import { compact, count, duration } from "../format.js";
import { useLoad } from "../load.js";
import { sum } from "../series.js";
import { may } from "../session.js";
import { address, to } from "../router.js";
import { attempt } from "../toast.js";
import { Since } from "./moment.js";
import { Amount, Depth } from "./state.js";

const OLD = 60;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const SHOWN = 100;
const COUNTED = ["active", "pending", "scheduled", "retry", "blocked", "dead"];

/**
 * @param {{queues: object[], more?: object[]}} props `more`: what is known of them besides, by name;
 *   the children are shown if there are no queues
 */
export function QueueTable({ queues, more = [], children }) {
  // One question for all of them, however many there are.
  const trends = useLoad([], (signal) => get("stats/queues", {}, { signal }), { every: MINUTE });
  const [whole, setWhole] = useState(false);
  if (!queues.length) return children;
  const known = new Map(more.map((each) => [each.name, each]));
  const lines = linesOf(trends.data);
  const shown = whole ? queues : queues.slice(0, SHOWN);
  return html`<div class="scroll">
    <table class="cards">
      <thead>
        <tr>
          <th scope="col">Queue</th>
          <th scope="col">Depth</th>
          ${COUNTED.map((state) => html`<th scope="col" class="number capital">${state}</th>`)}
          <th scope="col" class="number">Oldest waits</th>
          <th scope="col" class="number">Done / min</th>
          <th scope="col" class="number">Workers</th>
          ${may("operate") && html`<th scope="col"><span class="unseen">Actions</span></th>`}
        </tr>
      </thead>
      <tbody>
        ${shown.map(
          (queue) => html`<${Row} key=${queue.name} queue=${queue} more=${known.get(queue.name)} line=${lines.get(queue.name)} />`,
        )}
      </tbody>
    </table>
    ${shown.length < queues.length &&
    html`<p class="inside muted">
      Shown are ${count(shown.length)} of ${count(queues.length)}. <button onClick=${() => setWhole(true)}>Show all</button>
    </p>`}
  </div>`;
}

/** What is drawn of each queue, and what that says. */
function linesOf(trends) {
  if (!trends) return new Map();
  const [step, until] = [trends.step * 1000, Date.parse(trends.until)];
  const span = duration(Math.round((until - Date.parse(trends.since)) / HOUR) * 3600);
  const elapsed = (until - Date.parse(trends.since)) % step;
  const lineOf = (values) => ({
    label: `${count(sum(values))} completed in the last ${span}`,
    // The last step is going on: at this rate it will have so many, if there is a rate yet.
    values: [...values.slice(0, -1), ...(elapsed < MINUTE ? [] : [(values.at(-1) * step) / elapsed])],
  });
  return new Map(Object.entries(trends.queues).map(([name, values]) => [name, lineOf(values)]));
}

function Row({ queue, more, line }) {
  const { name, counts, paused, oldest_at: oldest } = queue;
  const number = (state) => html`<td class="number" data-label=${state}>
    ${counts[state]
      ? html`<a href=${address("ui/jobs", { queue: name, state })}><${Amount} value=${counts[state]} /></a>`
      : html`<${Amount} value=${0} />`}
  </td>`;
  return html`<tr data-row>
    <th scope="row">
      <a href=${to`ui/queues/${name}`}>${name}</a> ${paused && html`<span class="mark mark-warns">paused</span>`}
    </th>
    <td class="whole"><${Depth} counts=${counts} /></td>
    ${COUNTED.map(number)}
    <td class="number age" data-label="oldest waits"><${Age} since=${oldest} /></td>
    <td class="number" data-label="done / min"><${Rate} rate=${more?.rate} line=${line} /></td>
    <td class="number" data-label="workers">${more?.workers ?? ""}</td>
    ${may("operate") && html`<td class="actions"><${PauseButton} queue=${queue} /></td>`}
  </tr>`;
}

/** How long the oldest has been waiting: it goes on while nothing else changes. */
function Age({ since }) {
  const waited = (useCell(clock) - Date.parse(since ?? "")) / 1000;
  if (!since) return html`<span class="zero">–</span>`;
  return html`<span class=${waited > OLD ? "wrong" : ""}><${Since} at=${since} /></span>`;
}

/** How many were completed in the last minute, and how that was in the hours before. */
function Rate({ rate, line }) {
  const now = rate === null || rate === undefined ? html`<span class="zero">–</span>` : html`<b>${compact(Math.round(rate))}</b>`;
  return html`<span class="rate">${line && html`<${Sparkline} ...${line} />`} ${now}</span>`;
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
