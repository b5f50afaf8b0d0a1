/** From page to page. Pages begin behind a job, so that jobs that come and go shift nothing. */
import { html } from "../dom.js";
import { count } from "../format.js";
import { address } from "../router.js";

/** @param {{path: string, filter: object, cursor: string?, next: string?, shown: number, total?: number?}} props */
export function Pager({ path, filter, cursor, next, shown, total = null }) {
  if (!cursor && !next && total === null) return null;
  return html`<nav class="pager" aria-label="Pages">
    <span class="muted">${total === null ? `${count(shown)} shown` : `${count(shown)} shown of ${count(total)}`}</span>
    ${cursor && html`<a class="button" href=${address(path, filter)}>First page</a>`}
    ${next && html`<a class="button" href=${address(path, { ...filter, cursor: next })}>Next page</a>`}
  </nav>`;
}
