/** Values that jobs carry, as JSON text: to read and to copy. */
import { html, useState } from "../dom.js";
import { pretty, size } from "../format.js";
import { attempt } from "../toast.js";

const SHOWN = 20_000;

/** @param {{value: any, name: string}} props */
export function Payload({ value, name }) {
  const [whole, setWhole] = useState(false);
  const text = typeof value === "string" ? value : pretty(value);
  const isLong = text.length > SHOWN;
  return html`<div class="payload">
    <pre tabindex="0" role="group" aria-label=${name}>${isLong && !whole ? `${text.slice(0, SHOWN)}…` : text}</pre>
    <div class="payload-tools">
      ${isLong && !whole && html`<button class="plain" onClick=${() => setWhole(true)}>Show all ${size(text.length)}</button>`}
      <${Copy} text=${text} name=${name} />
    </div>
  </div>`;
}

/** Copies a text. */
export function Copy({ text, name }) {
  const copy = () => attempt(() => navigator.clipboard.writeText(text), `Copied: ${name}.`);
  // Only on pages from this machine or by TLS; elsewhere a selection has to do.
  return navigator.clipboard && html`<button class="plain copy" onClick=${copy} aria-label=${`Copy ${name}`}>Copy</button>`;
}
