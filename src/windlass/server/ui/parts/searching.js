/** How far a search has come while it goes on, and what it came to if it took its time. */
import { html } from "../dom.js";
import { count, jobs as many } from "../format.js";
import { Pager } from "./pager.js";

/**
 * @param {{list: ReturnType<import("../search.js").useSearch>, of?: number?}} props `of`: how many there
 *   are to look at, if that is known
 */
export function Searching({ list, of = null }) {
  const { jobs, looked_at: looked, answers } = list.data;
  if (!list.going) return answers > 1 && html`<p class="unseen" role="status">The search is over: ${many(jobs.length)} found.</p>`;
  const all = of === null ? "" : ` of ${count(Math.max(of, looked))}`;
  return html`<div class="searching" role="group" aria-label="Search">
    <progress class="progress" aria-label="How much was looked at" max=${of || undefined} value=${of ? Math.min(looked, of) : undefined}></progress>
    <p>${count(looked)}${all} looked at, ${count(jobs.length)} found</p>
    <button onClick=${list.stop}>Stop</button>
  </div>`;
}

/** Where a search goes on, once it is over; the rest is as of `Pager`. */
export function SearchPager({ list, ...rest }) {
  if (list.going) return null;
  const { jobs, cursor, looked_at: looked } = list.data;
  return html`<${Pager} ...${rest} next=${cursor} shown=${jobs.length} full=${list.full} looked=${list.lasting ? looked : 0} />`;
}
