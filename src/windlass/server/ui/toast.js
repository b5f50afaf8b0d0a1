/** Short messages about what was just done; read out by screen readers. */
import { Cell, useCell } from "./cell.js";
import { html } from "./dom.js";

const SHOWN_FOR = 6_000;
const messages = new Cell([]);
let last = 0;

export const say = (text) => show("done", text);
/** Failures stay until they are dismissed. */
export const complain = (error) => show("failed", error.message ?? String(error));

function show(kind, text) {
  const message = { id: ++last, kind, text };
  messages.value = [...messages.value.slice(-3), message];
  if (kind === "done") setTimeout(() => dismiss(message.id), SHOWN_FOR);
}

function dismiss(id) {
  messages.value = messages.value.filter((each) => each.id !== id);
}

/** Does something and says how it went; returns whether it went well. */
export async function attempt(doing, done) {
  try {
    const answer = await doing();
    say(typeof done === "function" ? done(answer) : done);
    return true;
  } catch (error) {
    complain(error);
    return false;
  }
}

export function Toasts() {
  return html`<div class="toasts" role="status" aria-live="polite">
    ${useCell(messages).map(
      ({ id, kind, text }) => html`<div key=${id} class=${`toast toast-${kind}`}>
        <p>${text}</p>
        <button class="plain" onClick=${() => dismiss(id)} aria-label="Dismiss this message">×</button>
      </div>`,
    )}
  </div>`;
}
