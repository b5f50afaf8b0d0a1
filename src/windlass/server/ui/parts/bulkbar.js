/** What can be done with the selected jobs, and how it goes. */
import { ACTIONS } from "../bulk.js";
import { confirm } from "../dialog.js";
import { html } from "../dom.js";
import { count, jobs as many } from "../format.js";
import { inWords } from "../filter.js";
import { allows } from "../states.js";
import { askPriority, askTime } from "./questions.js";
import { run } from "./running.js";

/**
 * @param {{selection: import("../selection.js").Selection, jobs: object[], filter: object,
 *   total: number | null, after: () => void}} props `total`: how many match, if that is known
 */
export function BulkBar({ selection, jobs, filter, total, after }) {
  if (!selection.size && !selection.all) return null;
  const chosen = jobs.filter(({ id }) => selection.has(id));
  // Of what was selected on another page it is not known here what it allows.
  const isOffered = (action) => selection.all || chosen.length < selection.size || chosen.some((job) => allows(action, job.state));
  const number = selection.all ? total : selection.size;
  const act = async (action) => {
    const options = await optionsFor(action, number);
    if (options === undefined) return;
    const what = selection.all ? { filter } : { ids: [...selection.ids] };
    await run({ action, options, ...what });
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
          disabled=${!isOffered(action)}
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
