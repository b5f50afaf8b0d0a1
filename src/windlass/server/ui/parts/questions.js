/** What is asked before a job gets another time, another priority, or a signal. */
import { ask } from "../dialog.js";
import { html, useState } from "../dom.js";

const UNITS = { seconds: 1, minutes: 60, hours: 3_600, days: 86_400 };

/** How long from now: `{delay}` in seconds; undefined if it was left. */
export const askTime = (title) =>
  form(title, "Reschedule", (data) => ({ delay: Number(data.get("number")) * UNITS[data.get("unit")] }), html`
    <div class="fields">
      <label class="field"><span>In</span><input name="number" type="number" min="0" step="any" value="5" required autofocus /></label>
      <label class="field"><span>Unit</span>
        <select name="unit">${Object.keys(UNITS).map((unit) => html`<option selected=${unit === "minutes"}>${unit}</option>`)}</select>
      </label>
    </div>
    <p class="muted">0 makes a job run as soon as a worker is free.</p>
  `);

/** `{priority}`; undefined if it was left. */
export const askPriority = (title, value = 75) =>
  form(title, "Change", (data) => ({ priority: Number(data.get("priority")) }), html`
    <label class="field">
      <span>Priority, 0 to 100; higher runs first</span>
      <input name="priority" type="number" min="0" max="100" step="1" value=${value} required autofocus />
    </label>
  `);

/** `{name, value}` of a signal; undefined if it was left. */
export const askSignal = (name) =>
  form("Send a signal", "Send", (data) => ({ name: data.get("name"), value: read(data.get("value")) }), html`
    <label class="field"><span>Name</span><input name="name" value=${name} required /></label>
    <label class="field">
      <span>Value, as JSON</span><textarea name="value" rows="4" autofocus spellcheck=${false}>null</textarea>
    </label>
  `);

/** JSON, or a complaint that says what is wrong with it. */
export function read(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`This is no JSON: ${error.message}.`);
  }
}

/** A dialog with fields: the answer is what `read` makes of them. */
export function form(title, yes, read, fields, options) {
  return ask(title, (close) => html`<${Form} ...${{ yes, read, fields, close }} />`, options);
}

function Form({ yes, read, fields, close }) {
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const submit = async (event) => {
    event.preventDefault();
    setBusy(true);
    try {
      close(await read(new FormData(event.target)));
    } catch (thrown) {
      setError(thrown);
      setBusy(false);
    }
  };
  return html`<form onSubmit=${submit}>
    ${fields} ${error && html`<p class="wrong" role="alert">${error.message}</p>`}
    <div class="buttons">
      <button type="button" onClick=${() => close()}>Leave it</button>
      <button class="primary" disabled=${busy}>${yes}</button>
    </div>
  </form>`;
}
