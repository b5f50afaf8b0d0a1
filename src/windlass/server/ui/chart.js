/** A chart of counts over time, in SVG, with the same as text for those who do not see it. */
import { classes, html, useEffect, useRef, useState } from "./dom.js";
import { compact, count, timeOfDay } from "./format.js";
import { line, scale, sum } from "./series.js";

const HEIGHT = 190;
const EDGE = { top: 8, right: 6, bottom: 22, left: 44 };
const MINUTE = 60_000;
const ROWS = 12;

/**
 * @param {{name: string, columns: ReturnType<import("./series.js").columns>,
 *   lines: {key: string, name: string}[]}} props values are shown for each minute
 */
export function TimeChart({ name, columns, lines }) {
  const [box, width] = useWidth();
  const [at, setAt] = useState(null);
  const { times, step, values } = columns;
  const perMinute = (key, index) => (values[key][index] * MINUTE) / step;
  const highest = Math.max(...lines.flatMap(({ key }) => times.map((_, index) => perMinute(key, index))));
  const { top, ticks } = scale(highest);
  const [inner, tall] = [width - EDGE.left - EDGE.right, HEIGHT - EDGE.top - EDGE.bottom];
  const x = (index) => EDGE.left + (inner * (index + 0.5)) / times.length;
  const y = (value) => EDGE.top + tall * (1 - value / top);
  const points = (key) => times.map((_, index) => [x(index), y(perMinute(key, index))]);
  const nearest = (event) => {
    const left = event.clientX - box.current.getBoundingClientRect().left - EDGE.left;
    return Math.min(Math.max(Math.floor((left / inner) * times.length), 0), times.length - 1);
  };
  const move = (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    setAt((before) => Math.min(Math.max((before ?? times.length) + by, 0), times.length - 1));
  };
  return html`<figure class="chart" ref=${box}>
    <${Legend} ...${{ lines, totals: columns.totals, times, step, at, perMinute }} />
    <svg
      width=${width}
      height=${HEIGHT}
      role="img"
      tabindex="0"
      aria-label=${summary(name, lines, columns)}
      onPointerMove=${(event) => setAt(nearest(event))}
      onPointerLeave=${() => setAt(null)}
      onKeyDown=${move}
      onBlur=${() => setAt(null)}
    >
      ${ticks.map(
        (tick) => html`<line class="grid" x1=${EDGE.left} x2=${width - EDGE.right} y1=${y(tick)} y2=${y(tick)} />
          <text class="axis" x=${EDGE.left - 6} y=${y(tick) + 4} text-anchor="end">${compact(tick)}</text>`,
      )}
      ${hours(times, step, inner).map(
        (index) => html`<text class="axis" x=${x(index)} y=${HEIGHT - 5} text-anchor="middle">${timeOfDay(times[index])}</text>`,
      )}
      ${lines.map(
        ({ key }, index) => html`${index === 0 &&
          html`<path
            class=${`area line-${key}`}
            d=${`${line(points(key))}L${x(times.length - 1)} ${y(0)}L${x(0)} ${y(0)}Z`}
          />`}
          <path class=${`line line-${key}`} d=${line(points(key))} />`,
      )}
      ${at !== null && at < times.length && html`<line class="cursor" x1=${x(at)} x2=${x(at)} y1=${EDGE.top} y2=${HEIGHT - EDGE.bottom} />`}
    </svg>
    <${AsTable} ...${{ name, lines, columns }} />
  </figure>`;
}

function Legend({ lines, totals, times, step, at, perMinute }) {
  const shown = at !== null && at < times.length;
  return html`<figcaption aria-live=${shown ? "polite" : "off"}>
    ${lines.map(
      ({ key, name }) => html`<span class=${classes("legend", `line-${key}`)}>
        ${name} <b>${shown ? `${compact(Math.round(perMinute(key, at) * 10) / 10)}/min` : count(totals[key])}</b>
      </span>`,
    )}
    <span class="muted">${shown ? `${timeOfDay(times[at])} to ${timeOfDay(times[at] + step)}` : "in all"}</span>
  </figcaption>`;
}

function AsTable({ name, lines, columns: { times, values, step } }) {
  const every = Math.ceil(times.length / ROWS);
  const rows = times.map((_, index) => index).filter((index) => index % every === 0);
  const cell = (key, index) => count(sum(values[key].slice(index, index + every)));
  return html`<details class="as-table">
    <summary>As a table</summary>
    <table>
      <caption class="unseen">${name}</caption>
      <thead><tr><th scope="col">From</th>${lines.map((each) => html`<th scope="col" class="number">${each.name}</th>`)}</tr></thead>
      <tbody>
        ${rows.map(
          (index) => html`<tr>
            <th scope="row">${timeOfDay(times[index])}</th>
            ${lines.map(({ key }) => html`<td class="number">${cell(key, index)}</td>`)}
          </tr>`,
        )}
      </tbody>
    </table>
    <p class="muted">Each row has ${Math.round((every * step) / 1000)} s.</p>
  </details>`;
}

function summary(name, lines, { times, totals }) {
  const said = lines.map(({ key, name: what }) => `${count(totals[key])} ${what.toLowerCase()}`);
  return `${name}, ${timeOfDay(times[0])} to now: ${said.join(", ")}. Left and right arrows read single values.`;
}

/** Which columns get a time below them: round ones, no closer than 90 pixels. */
function hours(times, step, width) {
  const least = ((times.length * step) / width) * 90;
  const gap = [1, 5, 10, 15, 30, 60, 120, 180, 240, 360].map((n) => n * MINUTE).find((n) => n >= least) ?? 720 * MINUTE;
  const local = new Date().getTimezoneOffset() * MINUTE;
  return times
    .map((time, index) => [time - local, index])
    .filter(([time]) => time % gap < step)
    .map(([, index]) => index)
    .filter((index) => index > 0 && index < times.length - 1);
}

function useWidth() {
  const box = useRef(null);
  const [width, setWidth] = useState(600);
  useEffect(() => {
    const watch = new ResizeObserver(([entry]) => setWidth(Math.max(Math.floor(entry.contentRect.width), 200)));
    watch.observe(box.current);
    return () => watch.disconnect();
  }, []);
  return [box, width];
}

/** A small line without axes; what it says is in its label. */
export function Sparkline({ values, label }) {
  const [width, height] = [96, 22];
  const top = Math.max(...values, 1);
  const points = values.map((value, index) => [
    (index * width) / Math.max(values.length - 1, 1),
    height - 1 - ((height - 3) * value) / top,
  ]);
  return html`<svg class="spark" width=${width} height=${height} role="img" aria-label=${label}>
    <title>${label}</title>
    <path class="area line-completed" d=${`${line(points)}L${width} ${height}L0 ${height}Z`} />
    <path class="line line-completed" d=${line(points)} />
  </svg>`;
}
