/** Questions that are asked before something is done. One at a time. */
import { Cell, useCell } from "./cell.js";
import { html, useEffect, useId, useRef } from "./dom.js";
import { place } from "./router.js";

/** @type {Cell<null | {title: string, body: any, done: (answer: any) => void}>} */
const open = new Cell(null);
let last = 0;

// A question is about the view that it was asked in.
place.follow(() => open.value?.done(undefined));

/**
 * Shows a dialog and waits for its answer; undefined if it was closed without one.
 * @param {string} title
 * @param {(close: (answer?: any) => void) => any} body renders what is below the title
 */
export function ask(title, body, { wide = false } = {}) {
  open.value?.done(undefined);
  return new Promise((resolve) => {
    const done = (answer) => {
      if (open.value === question) open.value = null;
      resolve(answer);
    };
    const question = { id: ++last, title, body, done, wide };
    open.value = question;
  });
}

/**
 * Asks whether to go on.
 * @param {{title: string, text: any, yes: string, danger?: boolean, word?: string}} question with a
 *   `word`, it has to be typed first: for what cannot be undone
 */
export async function confirm({ title, text, yes, danger = false, word }) {
  const answer = await ask(
    title,
    (close) => html`<${Confirmation} ...${{ text, yes, danger, word, close }} />`,
  );
  return answer === true;
}

function Confirmation({ text, yes, danger, word, close }) {
  const typed = useRef(null);
  const submit = (event) => {
    event.preventDefault();
    if (!word || typed.current.value === word) close(true);
    else typed.current.setCustomValidity(`Type ${word} to go on.`), typed.current.reportValidity();
  };
  return html`<form onSubmit=${submit}>
    <p>${text}</p>
    ${word &&
    html`<label class="field">
      <span>Type <code>${word}</code> to go on</span>
      <input
        ref=${typed}
        autocomplete="off"
        spellcheck=${false}
        onInput=${(event) => event.target.setCustomValidity("")}
      />
    </label>`}
    <div class="buttons">
      <button type="button" onClick=${() => close()}>Keep as it is</button>
      <button class=${danger ? "danger" : "primary"} autofocus=${!word}>${yes}</button>
    </div>
  </form>`;
}

export function Dialogs() {
  const question = useCell(open);
  return question && html`<${Shown} key=${question.id} question=${question} />`;
}

function Shown({ question }) {
  const [element, id] = [useRef(null), useId()];
  useEffect(() => {
    const before = document.activeElement;
    element.current.showModal();
    return () => before?.isConnected && before.focus();
  }, []);
  return html`<dialog
    ref=${element}
    class=${question.wide ? "wide" : ""}
    aria-labelledby=${id}
    onClose=${() => question.done(undefined)}
    onClick=${(event) => event.target === element.current && question.done(undefined)}
  >
    <div class="dialog">
      <h2 id=${id}>${question.title}</h2>
      ${question.body(question.done)}
    </div>
  </dialog>`;
}
