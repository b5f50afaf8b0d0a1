/** What a view shows while it has nothing to show: it loads, there is nothing, or it failed. */
import { html } from "../dom.js";

/** Grey lines in the place of what is to come. */
export const Skeleton = ({ lines = 6 }) =>
  html`<div class="skeleton" role="status" aria-label="Loading">
    ${Array.from({ length: lines }, (_, index) => html`<span style=${{ width: `${92 - ((index * 17) % 40)}%` }}></span>`)}
  </div>`;

/** There is nothing, and what would be here; `small` within a page that has more to say. */
export const Empty = ({ title, small = false, children }) =>
  html`<div class=${small ? "empty small" : "empty"}>
    ${!small && html`<img src="assets/favicon.svg" alt="" width="32" height="32" />`}
    <p class="empty-title">${title}</p>
    ${children && html`<div class="muted">${children}</div>`}
  </div>`;

/** It failed, and can be tried again. */
export const Failure = ({ error, retry }) =>
  html`<div class="failure" role="alert">
    <p><strong>This could not be loaded.</strong> ${error.message}</p>
    ${retry && html`<button onClick=${retry}>Try again</button>`}
  </div>`;

/**
 * What was loaded, or how that stands. What is there stays while it fails to be brought up to date.
 * @param {{of: ReturnType<import("../load.js").useLoad>, lines?: number, children: (data: any) => any}} props
 */
export function Loaded({ of, lines, children }) {
  if (of.data === null && of.error) return html`<${Failure} error=${of.error} retry=${of.reload} />`;
  if (of.data === null) return html`<${Skeleton} lines=${lines} />`;
  return html`${of.error && html`<p class="stale" role="status">Not up to date: ${of.error.message}</p>`}
  ${children(of.data)}`;
}
