/** A dead or cancelled job with other arguments or options: it runs as a new one. */
import { path, post } from "../api.js";
import { html } from "../dom.js";
import { pretty } from "../format.js";
import { me } from "../session.js";
import { say } from "../toast.js";
import { form, read } from "./questions.js";

const HIDDEN = '"***"';

/** The job that took its place; undefined if it was left. */
export function askEdit(job) {
  const [args, kwargs] = [pretty(job.args), pretty(job.kwargs)];
  const send = async (data) => {
    const changes = {};
    const [newArgs, newKwargs] = [data.get("args"), data.get("kwargs")];
    if (newArgs !== null && newArgs !== args) changes.args = read(newArgs);
    if (newKwargs !== null && newKwargs !== kwargs) changes.kwargs = read(newKwargs);
    for (const name of ["priority", "max_retries"])
      if (Number(data.get(name)) !== job[name]) changes[name] = Number(data.get(name));
    if (data.get("queue") !== job.queue) changes.queue = data.get("queue");
    const timeout = data.get("timeout") === "" ? null : Number(data.get("timeout"));
    if (timeout !== job.timeout) changes.timeout = timeout;
    const changed = await post(path`jobs/${job.id}/replay`, changes);
    say("The job runs again.");
    return changed;
  };
  return form("Edit and replay", "Replay", send, html`<${Fields} ...${{ job, args, kwargs }} />`, { wide: true });
}

function Fields({ job, args, kwargs }) {
  return html`<${Arguments} ...${{ job, args, kwargs }} />
    <div class="fields">
      <label class="field"><span>Queue</span><input name="queue" value=${job.queue} required /></label>
      <label class="field"><span>Priority</span><input name="priority" type="number" min="0" max="100" value=${job.priority} required /></label>
      <label class="field"><span>Retries</span><input name="max_retries" type="number" min="0" value=${job.max_retries} required /></label>
      <label class="field"><span>Timeout in seconds</span><input name="timeout" type="number" min="0" step="any" value=${job.timeout ?? ""} placeholder="none" /></label>
    </div>
    <p class="muted">With changes it becomes a new job, and this one is deleted.</p>`;
}

function Arguments({ job, args, kwargs }) {
  if (job.args === null) return html`<p class="muted">Its arguments cannot be read here, and stay as they are.</p>`;
  if (me.value.redacts?.length && (args + kwargs).includes(HIDDEN))
    return html`<p class="muted">Some of its arguments are hidden here, so that they all stay as they are.</p>`;
  return html`<label class="field">
      <span>Arguments by position, a list</span>
      <textarea name="args" rows=${rows(args)} spellcheck=${false}>${args}</textarea>
    </label>
    <label class="field">
      <span>Arguments by name, an object</span>
      <textarea name="kwargs" rows=${rows(kwargs)} spellcheck=${false}>${kwargs}</textarea>
    </label>`;
}

const rows = (text) => Math.min(Math.max(text.split("\n").length, 2), 14);
