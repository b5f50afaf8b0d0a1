/** What every view has: a title and what can be done here. */
import { html, useEffect } from "../dom.js";
import { actions } from "../keys.js";

/** @param {{title: any, name?: string, trail?: [string, string][], refresh?: () => void}} props */
export function Page({ title, name, trail = [], tools, refresh, children }) {
  useEffect(() => {
    document.title = `${name ?? title} · Windlass`;
  }, [name ?? title]);
  useEffect(() => {
    actions.refresh = refresh ?? null;
    return () => (actions.refresh = null);
  }, [refresh]);
  return html`<header class="page-head">
      ${trail.length > 0 &&
      html`<nav class="trail" aria-label="Where you are">
        ${trail.map(([text, href]) => html`<a href=${href}>${text}</a><span aria-hidden="true"> / </span>`)}
      </nav>`}
      <h1 tabindex="-1">${title}</h1>
      ${tools && html`<div class="tools">${tools}</div>`}
    </header>
    ${children}`;
}

/** A part of a page, with a heading of its own. */
export const Panel = ({ title, tools, children }) =>
  html`<section class="panel">
    ${title && html`<header><h2>${title}</h2>${tools && html`<div class="tools">${tools}</div>`}</header>`}
    ${children}
  </section>`;
