/** The form of a schedule: a new one, or when another one ticks. */
import { get, patch, path, put } from "../api.js";
import { html, useState } from "../dom.js";
import { fullMoment } from "../format.js";
import { useLoad } from "../load.js";
import { say } from "../toast.js";
import { form, read } from "./questions.js";

const PAUSE = 300;
const MISSED = { skip: "leave them out", last: "make up for the last", all: "make up for all" };
const OVERLAP = { allow: "enqueue all the same", skip: "leave it out", queue: "let one wait" };

/** True once the schedule has changed; what it enqueues stays. */
export function askSchedule(schedule) {
  const send = async (data) => {
    await patch(path`cron/${schedule.name}`, when(data));
    say(`${schedule.name} is changed.`);
    return true;
  };
  const note = schedule.declared && "The code of the app declares it: the next worker that starts puts it back.";
  return form(`Edit ${schedule.name}`, "Save", send, html`<${When} of=${schedule} />${note && html`<p class="muted">${note}</p>`}`);
}

/** True once there is a new schedule. */
export async function askNewSchedule() {
  const { tasks } = await get("tasks").catch(() => ({ tasks: [] }));
  const send = async (data) => {
    const name = data.get("name");
    const job = { task: data.get("task"), args: read(data.get("args")), kwargs: read(data.get("kwargs")) };
    if (data.get("queue")) job.queue = data.get("queue");
    await put(path`cron/${name}`, { ...when(data), job });
    say(`${name} is added.`);
    return true;
  };
  return form("Add a schedule", "Add", send, html`<${What} tasks=${tasks} /><${When} of=${{}} />`, { wide: true });
}

const when = (data) => Object.fromEntries(["text", "timezone", "missed", "overlap"].map((name) => [name, data.get(name)]));

const What = ({ tasks }) =>
  html`<div class="fields">
      <label class="field"><span>Name</span><input name="name" required maxlength="100" autofocus autocomplete="off" /></label>
      <label class="field">
        <span>Task</span><input name="task" required list="schedule-tasks" autocomplete="off" />
        <datalist id="schedule-tasks">${tasks.map(({ name }) => html`<option value=${name} />`)}</datalist>
      </label>
      <label class="field"><span>Queue</span><input name="queue" placeholder="as the task says" /></label>
    </div>
    <div class="fields">
      <label class="field"><span>Arguments by position</span><textarea name="args" rows="2" spellcheck=${false}>[]</textarea></label>
      <label class="field"><span>Arguments by name</span><textarea name="kwargs" rows="2" spellcheck=${false}>{}</textarea></label>
    </div>`;

function When({ of }) {
  const [asked, setAsked] = useState({ text: of.text ?? "", timezone: of.timezone ?? "UTC" });
  const write = (name) => (event) => setAsked({ ...asked, [name]: event.target.value });
  return html`<div class="fields">
      <label class="field">
        <span>When</span>
        <input name="text" required value=${asked.text} onInput=${write("text")} placeholder="0 9 * * mon-fri" class="mono" autocomplete="off" spellcheck=${false} />
      </label>
      <label class="field">
        <span>Time zone</span><input name="timezone" required value=${asked.timezone} onInput=${write("timezone")} list="zones" />
        <datalist id="zones">${(Intl.supportedValuesOf?.("timeZone") ?? []).map((zone) => html`<option value=${zone} />`)}</datalist>
      </label>
      <${Choice} name="missed" label="Ticks that nobody was there for" choices=${MISSED} value=${of.missed} />
      <${Choice} name="overlap" label="If the last one still runs" choices=${OVERLAP} value=${of.overlap} />
    </div>
    <${Preview} asked=${asked} />`;
}

/** What the server makes of a text while it is written. */
function Preview({ asked }) {
  const found = useLoad(
    [asked.text, asked.timezone],
    async (signal) => {
      await rest(signal);
      return asked.text.trim() ? get("timetable", asked, { signal }) : null;
    },
    { keep: true },
  );
  if (found.error) return html`<p class="wrong" role="status">${found.error.message}</p>`;
  if (!found.data) return html`<p class="muted">Five or six fields of cron, <code>@hourly</code> and the like, or <code>@every 90s</code>.</p>`;
  return html`<div role="status">
    <p>${found.data.words}</p>
    <p class="muted">Next: ${found.data.coming.slice(0, 3).map(fullMoment).join("; ")}</p>
  </div>`;
}

/** Waits until nobody has written for a moment. */
const rest = (signal) =>
  new Promise((resolve, reject) => {
    setTimeout(resolve, PAUSE);
    signal.addEventListener("abort", () => reject(signal.reason));
  });

const Choice = ({ name, label, choices, value }) =>
  html`<label class="field">
    <span>${label}</span>
    <select name=${name}>
      ${Object.entries(choices).map(([key, text]) => html`<option value=${key} selected=${key === value}>${text}</option>`)}
    </select>
  </label>`;
