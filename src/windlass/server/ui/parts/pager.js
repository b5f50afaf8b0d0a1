/** From page to page. Pages begin behind a job, so that jobs that come and go shift nothing. */
import { html } from "../dom.js";
import { count } from "../format.js";
import { address } from "../router.js";

/**
 * @param {{path: string, filter: object, cursor: string?, next: string?, shown: number, total?: number?,
 *   looked?: number, full?: boolean}} props `looked`: how many were looked at for it, if that is worth
 *   saying; `full`: whether the page has all that it has room for
 */
export function Pager({ path, filter, cursor, next, shown, total = null, looked = 0, full = true }) {
  if (!cursor && !next && total === null && !looked) return null;
  const said = [total === null ? `${count(shown)} shown` : `${count(shown)} shown of ${count(total)}`];
  if (looked) said.push(`${count(looked)} looked at`);
  return html`<nav class="pager" aria-label="Pages">
    <span class="muted">${said.join(", ")}</span>
    ${cursor && html`<a class="button" href=${address(path, filter)}>First page</a>`}
    ${next && html`<a class="button" href=${address(path, { ...filter, cursor: next })}>${full ? "Next page" : "Go on from here"}</a>`}
  </nav>`;
}
