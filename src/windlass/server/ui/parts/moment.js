/** Moments and durations that go on. */
import { useCell } from "../cell.js";
import { clock } from "../clock.js";
import { html } from "../dom.js";
import { duration, exactMoment, fullMoment, relative } from "../format.js";

/** How long ago, or until when; the exact moment is in its title. */
export function Moment({ at, exact = false }) {
  const now = useCell(clock);
  if (!at) return html`<span class="muted">–</span>`;
  const [near, full] = [relative(at, now), fullMoment(at)];
  if (exact)
    return html`<time datetime=${at} title=${full}>${exactMoment(at, now)} <span class="muted">(${near})</span></time>`;
  return html`<time datetime=${at} title=${full}>${near}</time>`;
}

/** How long something has been going on. */
export function Since({ at }) {
  const now = useCell(clock);
  return at ? html`<span class="number">${duration(Math.max(Math.floor((now - Date.parse(at)) / 1000), 0))}</span>` : "–";
}
