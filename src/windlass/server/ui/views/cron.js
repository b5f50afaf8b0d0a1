/** Schedules: when they ticked last, when they tick next, and what stands in their way. */
import { get, path, post, remove } from "../api.js";
import { useCell } from "../cell.js";
import { clock } from "../clock.js";
import { confirm } from "../dialog.js";
import { html } from "../dom.js";
import { duration, fullMoment } from "../format.js";
import { useLoad } from "../load.js";
import { Moment } from "../parts/moment.js";
import { Page, Panel } from "../parts/page.js";
import { askNewSchedule, askSchedule } from "../parts/scheduleform.js";
import { Empty, Loaded } from "../parts/standing.js";
import { State } from "../parts/state.js";
import { address, to } from "../router.js";
import { may } from "../session.js";
import { attempt } from "../toast.js";

const EVERY = 5_000;
const LATE = 10;

export default function Cron() {
  const list = useLoad([], (signal) => get("cron", {}, { signal }), { every: EVERY });
  const add = async () => (await askNewSchedule()) && list.reload();
  return html`<${Page} title="Cron" tools=${may("operate") && html`<button onClick=${add}>Add a schedule</button>`} refresh=${list.reload}>
    <${Panel}>
      <${Loaded} of=${list}>
        ${({ schedules }) =>
          schedules.length
            ? html`<${Table} schedules=${schedules} after=${list.reload} />`
            : html`<${Empty} title="There are no schedules.">
                Declare one by <code>@app.cron("0 9 * * mon-fri")</code>, or add one here.
              <//>`}
      <//>
    <//>
  <//>`;
}

function Table({ schedules, after }) {
  return html`<div class="scroll">
    <table class="cards">
      <thead>
        <tr>
          <th scope="col">Schedule</th><th scope="col">When</th><th scope="col">Task</th>
          <th scope="col">Last</th><th scope="col">Next</th>
          ${may("operate") && html`<th scope="col"><span class="unseen">Actions</span></th>`}
        </tr>
      </thead>
      <tbody>
        ${schedules.map((schedule) => html`<${Row} key=${schedule.name} schedule=${schedule} after=${after} />`)}
      </tbody>
    </table>
  </div>`;
}

function Row({ schedule, after }) {
  const { name, text, timezone, task, queue, paused, declared, fault } = schedule;
  return html`<tr data-row>
    <th scope="row">
      ${name} ${paused && html`<span class="mark mark-warns">paused</span>`}
      ${!declared && html` <span class="mark" title="Added at run time, not by the code of the app">added</span>`}
      ${fault && html`<p class="wrong">${fault}</p>`}
    </th>
    <td class="whole" title=${coming(schedule.coming)}>
      ${schedule.words ?? ""} <span class="note-line"><code>${text}</code> <span class="muted">${timezone}</span></span>
    </td>
    <td data-label="task"><a class="quiet" href=${address("ui/jobs", { task })}>${task}</a> <span class="note-line muted">in <a class="quiet" href=${to`ui/queues/${queue}`}>${queue}</a></span></td>
    <td class="nowrap" data-label="last"><${Last} schedule=${schedule} /></td>
    <td class="nowrap" data-label="next"><${Next} at=${schedule.next_at} /></td>
    ${may("operate") && html`<td class="actions"><${Actions} schedule=${schedule} after=${after} /></td>`}
  </tr>`;
}

const coming = (moments) => (moments.length ? `Next: ${moments.map(fullMoment).join("; ")}` : undefined);

/** The last tick, what became of its job, and by how much that was late. */
function Last({ schedule: { last_at: at, last } }) {
  if (!last) return html`<${Moment} at=${at} />`;
  return html`<a href=${to`ui/jobs/${last.id}`}><${Moment} at=${at} /></a> <${State} state=${last.state} />
    ${last.lag > LATE && html`<span class="note-line wrong">enqueued ${duration(last.lag)} late</span>`}`;
}

/** The next tick; one that should have been by now is late. */
function Next({ at }) {
  const late = (useCell(clock) - Date.parse(at ?? "")) / 1000;
  return late > LATE ? html`<span class="wrong">late by ${duration(Math.floor(late))}</span>` : html`<${Moment} at=${at} />`;
}

function Actions({ schedule, after }) {
  const { name, paused, declared } = schedule;
  const then = async (doing, said) => (await attempt(doing, said)) && after();
  const run = () => then(() => post(path`cron/${name}/trigger`), `A job of ${name} is enqueued.`);
  const pause = () =>
    paused
      ? then(() => post(path`cron/${name}/resume`), `${name} goes on.`)
      : then(() => post(path`cron/${name}/pause`), `${name} is paused: its ticks make no jobs.`);
  const edit = async () => (await askSchedule(schedule)) && after();
  const erase = async () => {
    const text = declared
      ? "The code of the app declares it: the next worker that starts puts it back."
      : "It makes no more jobs; those that it made stay.";
    if (await confirm({ title: `Remove ${name}?`, text, yes: "Remove", danger: true }))
      await then(() => remove(path`cron/${name}`), `${name} is removed.`);
  };
  return html`<button onClick=${run} aria-label=${`Run ${name} now`}>Run now</button>
    <button onClick=${pause} aria-label=${`${paused ? "Resume" : "Pause"} ${name}`}>${paused ? "Resume" : "Pause"}</button>
    <button onClick=${edit} aria-label=${`Edit ${name}`}>Edit</button>
    <button class="warns" onClick=${erase} aria-label=${`Remove ${name}`}>Remove</button>`;
}
