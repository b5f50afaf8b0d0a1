/** A change of many jobs while it goes on: a bar, what came of it so far, and a way to stop it. */
import { ACTIONS, changeMany } from "../bulk.js";
import { ask } from "../dialog.js";
import { html, useEffect, useRef, useState } from "../dom.js";
import { count, jobs as many } from "../format.js";

/** Changes jobs as `changeMany` is asked to, and waits until the reader has seen what came of it. */
export const run = (asked) => ask(ACTIONS[asked.action].verb, (close) => html`<${Running} ...${{ asked, close }} />`);

function Running({ asked, close }) {
  const [sofar, setSofar] = useState({ changed: 0, left: 0, seen: 0, of: 0, reasons: [] });
  const [state, setState] = useState({ running: true });
  const stopper = useRef(new AbortController());
  useEffect(() => {
    changeMany(asked, setSofar, stopper.current.signal).then(
      () => setState({ stopped: stopper.current.signal.aborted }),
      (error) => setState({ error }),
    );
    return () => stopper.current.abort();
  }, []);
  const { changed, left, seen, of, reasons } = sofar;
  const share = of ? Math.min(seen / of, 1) : undefined;
  return html`<div class="running">
    <progress class="progress" aria-label="How much is done" value=${state.running ? share : (share ?? 1)}></progress>
    <p role="status">
      ${many(changed)} ${ACTIONS[asked.action].done}${left ? `, ${count(left)} left as they were` : ""}.
      ${state.running && of > 0 && html` <span class="muted">${count(Math.min(seen, of))} of ${count(of)} looked at.</span>`}
      ${state.stopped && html` <b>Stopped.</b>`}
    </p>
    ${reasons.length > 0 && html`<ul class="reasons">${reasons.map((reason) => html`<li>${reason}</li>`)}</ul>`}
    ${state.error && html`<p class="wrong" role="alert">It ended early: ${state.error.message}</p>`}
    <div class="buttons">
      ${state.running
        ? html`<button onClick=${() => stopper.current.abort()}>Stop</button>`
        : html`<button class="primary" autofocus onClick=${() => close()}>Close</button>`}
    </div>
  </div>`;
}
