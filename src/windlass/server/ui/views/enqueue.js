/** A form for a new job, made of the task's own signature. */
import { get, post } from "../api.js";
import { useCell } from "../cell.js";
import { html, useState } from "../dom.js";
import { useLoad } from "../load.js";
import { callOf, choicesOf, hintOf, inputOf, stepOf } from "../parameter.js";
import { Page, Panel } from "../parts/page.js";
import { read } from "../parts/questions.js";
import { Loaded } from "../parts/standing.js";
import { go, place, to } from "../router.js";
import { say } from "../toast.js";

export default function Enqueue() {
  const tasks = useLoad([], (signal) => get("tasks", {}, { signal }));
  return html`<${Page} title="Enqueue a job">
    <${Loaded} of=${tasks}>${(found) => html`<${Form} ...${found} />`}<//>
  <//>`;
}

function Form({ known, tasks }) {
  const asked = useCell(place).query.get("task") ?? (known ? tasks[0]?.name : "") ?? "";
  const [name, setName] = useState(asked);
  const [state, setState] = useState({});
  const task = tasks.find((each) => each.name === name);
  const submit = async (event) => {
    event.preventDefault();
    setState({ busy: true });
    try {
      const { id, duplicate } = await post("jobs", job(new FormData(event.target), task));
      say(duplicate ? "This job was there before." : "The job is enqueued.");
      go(to`ui/jobs/${id}`);
    } catch (error) {
      setState({ error });
    }
  };
  return html`<form class="new-job" onSubmit=${submit}>
    <${Panel} title="Task">
      <div class="inside stack">
        <label class="field">
          <span>Task</span>
          ${known
            ? html`<select name="task" value=${name} onChange=${(event) => setName(event.target.value)} data-search="">
                ${tasks.map((each) => html`<option value=${each.name} selected=${each.name === name}>${each.name}</option>`)}
              </select>`
            : html`<input name="task" required value=${name} onInput=${(event) => setName(event.target.value)} placeholder="the name that workers know" data-search="" />`}
        </label>
        ${task && html`<p><code>${task.signature}</code></p>`} ${task?.doc && html`<p class="muted">${task.doc}</p>`}
      </div>
    <//>
    <${Panel} title="Arguments">
      <div class="inside stack">${task ? html`<${Fields} key=${name} task=${task} />` : html`<${Free} />`}</div>
    <//>
    <${Panel} title="Options"><div class="inside"><${Options} task=${task} /></div><//>
    ${state.error && html`<p class="wrong" role="alert">${state.error.message}</p>`}
    <div class="buttons"><button class="primary" disabled=${state.busy}>Enqueue</button></div>
  </form>`;
}

function Fields({ task: { parameters } }) {
  if (!parameters.length) return html`<p class="muted">It takes none.</p>`;
  return parameters.map((each) => html`<${Field} key=${each.name} of=${each} />`);
}

function Field({ of }) {
  const [input, hint] = [inputOf(of), hintOf(of)];
  const given = { name: `arg:${of.name}`, required: of.required && input !== "text" };
  const fields = {
    text: () => html`<input ...${given} placeholder=${hint} autocomplete="off" />`,
    number: () => html`<input ...${given} type="number" step=${stepOf(of)} placeholder=${hint} />`,
    choice: () => html`<select ...${given}>
      ${!of.required && html`<option value="">as it is: ${hint}</option>`}
      ${choicesOf(of).map(([text, value]) => html`<option value=${value}>${text}</option>`)}
    </select>`,
    json: () => html`<textarea ...${given} rows="3" placeholder=${hint} spellcheck=${false}></textarea>`,
  };
  return html`<label class="field">
    <span><b>${of.name}</b> ${of.annotation && html`<code>${of.annotation}</code>`} ${input === "json" && "as JSON"}</span>
    ${fields[input]()}
  </label>`;
}

const Free = () =>
  html`<label class="field"><span>By position, a JSON list</span><textarea name="args" rows="3" spellcheck=${false}>[]</textarea></label>
    <label class="field"><span>By name, a JSON object</span><textarea name="kwargs" rows="3" spellcheck=${false}>{}</textarea></label>`;

const Options = ({ task }) =>
  html`<div class="fields">
    <label class="field"><span>Queue</span><input name="queue" placeholder=${task?.queue ?? "default"} /></label>
    <label class="field"><span>Priority</span><input name="priority" type="number" min="0" max="100" placeholder=${task?.priority ?? 50} /></label>
    <label class="field"><span>Delay in seconds</span><input name="delay" type="number" min="0" step="any" placeholder="0" /></label>
    <label class="field"><span>Retries</span><input name="max_retries" type="number" min="0" placeholder=${task?.max_retries ?? 3} /></label>
    <label class="field"><span>Timeout in seconds</span><input name="timeout" type="number" min="0" step="any" placeholder=${task?.timeout ?? "none"} /></label>
    <label class="field"><span>Unique key</span><input name="unique" placeholder="none" autocomplete="off" /></label>
    <label class="field"><span>Id</span><input name="id" placeholder="a new one" autocomplete="off" /></label>
    <label class="field"><span>Labels</span><input name="labels" placeholder="name=value name=value" autocomplete="off" /></label>
  </div>`;

/** What the API is asked for. */
function job(data, task) {
  const asked = { task: data.get("task") };
  for (const name of ["queue", "unique", "id"]) if (data.get(name)) asked[name] = data.get(name);
  for (const name of ["priority", "delay", "max_retries", "timeout"]) if (data.get(name)) asked[name] = Number(data.get(name));
  const labels = data.get("labels").trim();
  if (labels) asked.labels = Object.fromEntries(labels.split(/\s+/).map(label));
  if (!task) return { ...asked, args: read(data.get("args")), kwargs: read(data.get("kwargs")) };
  const written = Object.fromEntries(task.parameters.map(({ name }) => [name, data.get(`arg:${name}`)]));
  return { ...asked, ...callOf(task.parameters, written, read) };
}

function label(text) {
  const at = text.indexOf("=");
  if (at < 1) throw new Error(`A label is written as name=value; got ${text}.`);
  return [text.slice(0, at), text.slice(at + 1)];
}
