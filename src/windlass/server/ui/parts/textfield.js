/** A field whose text counts once it is left, or Enter is pressed; until then nothing overwrites it. */
import { html, useState } from "../dom.js";

/** @param {{label: string, value: string, commit: (text: string) => void, hint?: string, list?: string, search?: boolean}} props */
export function TextField({ label, value, commit, hint = "any", list, search = false }) {
  const [draft, setDraft] = useState(null);
  const leave = (event) => {
    setDraft(null);
    if (event.target.value.trim() !== value) commit(event.target.value.trim());
  };
  return html`<label class="field">
    <span>${label}</span>
    <input
      value=${draft ?? value}
      onInput=${(event) => setDraft(event.target.value)}
      onChange=${leave}
      placeholder=${hint}
      list=${list}
      data-search=${search ? "" : undefined}
      autocomplete="off"
      spellcheck=${false}
    />
  </label>`;
}
