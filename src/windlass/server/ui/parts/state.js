/** The state of a job: always a word, with a colour that is the same everywhere. */
import { html } from "../dom.js";
import { compact, count } from "../format.js";
import { MEANING, STATES } from "../states.js";

export const State = ({ state }) =>
  html`<span class=${`state state-${state}`} title=${MEANING[state]}>${state}</span>`;

/** How the jobs of a queue are divided over the states that matter now. */
export function Depth({ counts }) {
  const shown = STATES.filter((state) => counts[state] && !["completed", "cancelled"].includes(state));
  const total = shown.reduce((sum, state) => sum + counts[state], 0);
  if (!total) return html`<span class="muted">empty</span>`;
  const text = shown.map((state) => `${count(counts[state])} ${state}`).join(", ");
  return html`<span class="depth" role="img" aria-label=${text} title=${text}>
    ${shown.map(
      (state) => html`<span class=${`fill-${state}`} style=${{ flexGrow: counts[state] }}></span>`,
    )}
  </span>`;
}

/** A number that stands out only if it is not zero. */
export const Amount = ({ value }) =>
  html`<span class=${value ? "" : "zero"} title=${count(value)}>${compact(value ?? 0)}</span>`;
