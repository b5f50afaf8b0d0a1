/** What can be done with one job. */
import { path, post, remove } from "../api.js";
import { confirm } from "../dialog.js";
import { html } from "../dom.js";
import { go, to } from "../router.js";
import { may } from "../session.js";
import { allows } from "../states.js";
import { attempt } from "../toast.js";
import { askEdit } from "./edit.js";
import { askPriority, askSignal, askTime } from "./questions.js";

/** @param {{job: object, after: () => void}} props `after` is called when the job has changed */
export function JobActions({ job, after }) {
  const { id } = job;
  const then = async (doing, done) => (await attempt(doing, done)) && after();
  const cancel = async () =>
    (await confirm({ title: "Cancel this job?", text: "It will not run; if it runs, it is stopped.", yes: "Cancel the job", danger: true })) &&
    then(() => post(path`jobs/${id}/cancel`), "The job is cancelled.");
  const replay = () => then(() => post(path`jobs/${id}/replay`), "The job runs again.");
  const edit = async () => {
    const changed = await askEdit(job);
    if (!changed) return;
    if (changed.id !== id) go(to`ui/jobs/${changed.id}`, { replace: true });
    else after();
  };
  const reschedule = async () => {
    const body = await askTime("Reschedule this job");
    if (body) void then(() => post(path`jobs/${id}/reschedule`, body), "The job has another time.");
  };
  const prioritize = async () => {
    const body = await askPriority("Change the priority", job.priority);
    if (body) void then(() => post(path`jobs/${id}/priority`, body), `The job has the priority ${body.priority}.`);
  };
  const signal = async () => {
    const body = await askSignal(job.awaits ?? "");
    if (body) void then(() => post(path`jobs/${id}/signal`, body), `The signal ${body.name} is sent.`);
  };
  const erase = async () => {
    const sure = await confirm({
      title: "Delete this job?",
      text: "It is gone for good, with its result and its logs.",
      yes: "Delete the job",
      danger: true,
    });
    if (sure && (await attempt(() => remove(path`jobs/${id}`), "The job is deleted."))) go("ui/jobs", { replace: true });
  };
  const offered = [
    ["replay", "Replay", replay],
    // Others know a job of a workflow by its id, and one that is edited gets another.
    ...(job.workflow ? [] : [["replay", "Edit and replay", edit]]),
    ["reschedule", "Reschedule", reschedule],
    ["priority", "Priority", prioritize],
    ["cancel", "Cancel", cancel],
    ["delete", "Delete", erase],
  ];
  const live = !["completed", "dead", "cancelled"].includes(job.state);
  return html`${live && may("enqueue") && html`<button class=${job.awaits ? "primary" : ""} onClick=${signal}>Signal</button>`}
  ${may("operate") &&
  offered
    .filter(([action]) => allows(action, job.state))
    .map(
      ([action, name, act]) =>
        html`<button class=${name === "Replay" ? "primary" : action === "delete" || action === "cancel" ? "warns" : ""} onClick=${act}>${name}</button>`,
    )}`;
}
