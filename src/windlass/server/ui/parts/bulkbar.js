/** What can be done with the selected jobs, and how it goes. */
import { ACTIONS, changeMany } from "../bulk.js";
import { ask, confirm } from "../dialog.js";
import { html, useEffect, useRef, useState } from "../dom.js";
import { count, jobs as many } from "../format.js";
import { inWords } from "../filter.js";
import { allows } from "../states.js";
import { askPriority, askTime } from "./questions.js";

/**
 * @param {{selection: import("../selection.js").Selection, jobs: object[], filter: object,
 *   total: number | null, after: () => void}} props `total`: how many match, if that is known
 */
export function BulkBar({ selection, jobs, filter, total, after }) {
  if (!selection.size && !selection.all) return null;
  const chosen = jobs.filter(({ id }) => selection.has(id));
  const number = selection.all ? total : selection.size;
  const act = async (action) => {
    const options = await optionsFor(action, number);
    if (options === undefined) return;
    const what = selection.all ? { filter } : { ids: [...selection.ids] };
    await ask(ACTIONS[action].verb, (close) => html`<${Running} ...${{ asked: { action, options, ...what }, close }} />`);
    selection.clear();
    after();
  };
  return html`<div class="bulk" role="region" aria-label="Selected jobs">
    <p aria-live="polite">
      <b>${selection.all ? (total === null ? "All that match" : `All ${count(total)} that match`) : many(number)}</b>
      ${selection.all ? `: ${inWords(filter)}` : " selected"}
      ${!selection.all && selection.isPage && html` <button class="plain" onClick=${selection.selectAll}>Select all that match the filter</button>`}
    </p>
    <div class="tools">
      ${Object.entries(ACTIONS).map(
        ([action, { verb, danger }]) => html`<button
          class=${danger ? "warns" : ""}
          disabled=${!selection.all && !chosen.some((job) => allows(action, job.state))}
          onClick=${() => act(action)}
        >
          ${verb}
        </button>`,
      )}
      <button class="plain" onClick=${selection.clear}>Clear</button>
    </div>
  </div>`;
}

/** What an action needs to know; undefined if it is not to be done. */
async function optionsFor(action, number) {
  const what = number === null ? "all jobs that match" : many(number);
  if (action === "reschedule") return askTime(`Reschedule ${what}`);
  if (action === "priority") return askPriority(`Change the priority of ${what}`);
  const { verb, danger } = ACTIONS[action];
  const text = {
    cancel: "What waits will not run; what runs is stopped. They can be replayed later.",
    replay: "They run again from their first attempt. Those that are not dead or cancelled are left alone.",
    delete: "They are gone for good, with their results and logs. What runs is left alone.",
  }[action];
  return (await confirm({ title: `${verb} ${what}?`, text, yes: `${verb} ${what}`, danger })) ? {} : undefined;
}

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
