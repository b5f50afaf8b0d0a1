/** The fields that say which jobs are listed. Each change is a new address. */
import { get } from "../api.js";
import { useCell } from "../cell.js";
import { html, useId, useState } from "../dom.js";
import { fromLocal, isOpen, toLocal } from "../filter.js";
import { compact } from "../format.js";
import { queues, totals, workers } from "../live.js";
import { useLoad } from "../load.js";
import { go, to } from "../router.js";
import { STATES } from "../states.js";
import { TextField } from "./textfield.js";

const RARE = ["worker", "label", "since", "until", "argument", "error", "fingerprint"];

/** @param {{filter: object, change: (filter: object) => void}} props */
export function FilterBar({ filter, change }) {
  const [id, all, crew] = [useId(), useCell(queues) ?? [], useCell(workers) ?? []];
  const counts = totals(all.filter(({ name }) => !filter.queue || name === filter.queue));
  const tasks = useLoad([], (signal) => get("tasks", {}, { signal })).data?.tasks ?? [];
  const [open, setOpen] = useState(RARE.some((name) => filter[name].length));
  const field = (name, label, more = {}) => {
    const commit = (text) => change({ ...filter, [name]: name === "label" ? text.split(/\s+/) : text });
    return html`<${TextField} key=${name} ...${{ label, commit, value: [filter[name]].flat().join(" "), ...more }} />`;
  };
  const toggle = (state) =>
    change({
      ...filter,
      state: filter.state.includes(state) ? filter.state.filter((each) => each !== state) : [...filter.state, state],
    });
  const moment = (name) => (event) => change({ ...filter, [name]: fromLocal(event.target.value) });
  return html`<form class="filter" role="search" onSubmit=${(event) => event.preventDefault()}>
    <div class="chips" role="group" aria-label="States">
      ${STATES.map(
        (state) => html`<button
          type="button"
          class=${`chip state-${state}`}
          aria-pressed=${filter.state.includes(state)}
          onClick=${() => toggle(state)}
        >
          ${state}${counts[state] ? html` <b>${compact(counts[state])}</b>` : ""}
        </button>`,
      )}
    </div>
    <div class="fields">
      ${field("queue", "Queue", { list: `${id}queues` })} ${field("task", "Task", { list: `${id}tasks`, search: true })}
      <${TextField} label="Id" value="" hint="opens the job" commit=${(text) => go(to`ui/jobs/${text}`)} />
      <datalist id=${`${id}queues`}>${all.map(({ name }) => html`<option value=${name} />`)}</datalist>
      <datalist id=${`${id}tasks`}>${tasks.map(({ name }) => html`<option value=${name} />`)}</datalist>
      <div class="filter-buttons">
        <button type="button" aria-expanded=${open} onClick=${() => setOpen(!open)}>${open ? "Fewer filters" : "More filters"}</button>
        ${!isOpen(filter) && html`<button type="button" class="plain" onClick=${() => change({})}>Clear</button>`}
      </div>
    </div>
    ${open &&
    html`<div class="fields">
      ${field("argument", "Argument", { hint: "name=value, or a value" })}
      ${field("error", "Error", { hint: "a part of its text" })} ${field("label", "Label", { hint: "name=value" })}
      ${field("worker", "Worker", { list: `${id}workers` })}
      <datalist id=${`${id}workers`}>${crew.map((worker) => html`<option value=${worker.id}>${worker.host} ${worker.pid}</option>`)}</datalist>
      ${field("fingerprint", "Fingerprint of the error")}
      <label class="field"><span>Since (ended, or created)</span><input type="datetime-local" value=${toLocal(filter.since)} onChange=${moment("since")} /></label>
      <label class="field"><span>Until</span><input type="datetime-local" value=${toLocal(filter.until)} onChange=${moment("until")} /></label>
    </div>`}
  </form>`;
}
