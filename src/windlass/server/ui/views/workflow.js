/** One workflow: its graph, when its steps ran, and the steps themselves. */
import { get, path, post } from "../api.js";
import { confirm } from "../dialog.js";
import { html, useEffect, useState } from "../dom.js";
import { count, jobs as many } from "../format.js";
import { Gantt } from "../gantt.js";
import { Graph } from "../graph.js";
import { useLoad } from "../load.js";
import { Failure } from "../parts/attempts.js";
import { JobTable } from "../parts/jobtable.js";
import { Page, Panel } from "../parts/page.js";
import { Payload } from "../parts/payload.js";
import { Moment } from "../parts/moment.js";
import { Loaded } from "../parts/standing.js";
import { State } from "../parts/state.js";
import { to } from "../router.js";
import { may } from "../session.js";
import { FINISHED } from "../states.js";
import { follow } from "../stream.js";
import { attempt } from "../toast.js";

const FOLLOWED = 100;
const EVERY = 5_000;
const SHOWN = 200;

export default function Workflow({ id }) {
  const ask = async (signal) => ({ asked: Date.now(), ...(await get(path`workflows/${id}`, {}, { signal })) });
  const found = useLoad([id], ask, { every: EVERY });
  const news = useNews(found.data);
  const workflow = found.data?.workflow;
  return html`<${Page}
    title=${workflow ? html`Workflow <${State} state=${workflow.state} />` : "Workflow"}
    name="Workflow"
    trail=${[["Workflows", "ui/workflows"]]}
    tools=${workflow && may("operate") && html`<${Actions} workflow=${workflow} jobs=${news} after=${found.reload} />`}
    refresh=${found.reload}
  >
    <${Loaded} of=${found} lines=${14}>${({ complete }) => html`<${Found} workflow=${workflow} jobs=${news} complete=${complete} />`}<//>
  <//>`;
}

/** The jobs as the server told them last; those that have not ended are followed. */
function useNews(data) {
  const [told, setTold] = useState({});
  const going = (data?.jobs ?? []).filter((job) => !FINISHED.includes(job.state)).map(({ id }) => id);
  const ids = going.slice(0, FOLLOWED).join();
  useEffect(() => {
    if (!ids) return undefined;
    const hear = (_, job) => job.state && setTold((before) => ({ ...before, [job.id]: { job, at: Date.now() } }));
    return follow({ job: ids.split(",") }, { hear });
  }, [ids]);
  return (data?.jobs ?? []).map((job) => (told[job.id]?.at > data.asked ? told[job.id].job : job));
}

function Found({ workflow, jobs, complete }) {
  const ended = jobs.filter((job) => FINISHED.includes(job.state)).length;
  return html`<p class="subline">
      <a class="mono" href=${to`ui/jobs/${workflow.id}`} title="The job that stands for it">${workflow.id}</a>,
      created <${Moment} at=${workflow.created_at} />
    </p>
    <div class="job-progress">
      <progress class="progress" max=${jobs.length} value=${ended} aria-label="Steps that have ended"></progress>
      <p aria-live="polite">${count(ended)} of ${many(jobs.length)} ended</p>
    </div>
    ${!complete && html`<p class="stale outdated">It has more steps than are shown here: these are the first ${count(jobs.length)}.</p>`}
    ${workflow.error && html`<${Panel} title="Error"><div class="inside"><${Failure} error=${workflow.error} open=${false} /></div><//>`}
    <${Panel} title="Steps"><${Graph} jobs=${jobs} /><//>
    <${Panel} title="When they ran"><${Gantt} jobs=${jobs} /><//>
    ${workflow.state === "completed" && html`<${Panel} title="Result"><div class="inside"><${Payload} value=${workflow.result} name="result" /></div><//>`}
    <${Panel} title="Jobs">
      <${JobTable} jobs=${jobs.slice(0, SHOWN)} label="Jobs of the workflow" />
      ${jobs.length > SHOWN && html`<p class="inside muted">Shown are the first ${SHOWN} of ${count(jobs.length)}.</p>`}
    <//>`;
}

function Actions({ workflow: { id, state }, jobs, after }) {
  const cancel = async () => {
    const text = "What waits will not run; what runs is stopped. Results that are there stay.";
    if (!(await confirm({ title: "Cancel this workflow?", text, yes: "Cancel the workflow", danger: true }))) return;
    if (await attempt(() => post(path`workflows/${id}/cancel`), "The workflow is cancelled.")) after();
  };
  const retry = async () => {
    if (await attempt(() => post(path`workflows/${id}/retry`), ({ replayed }) => `${many(replayed)} replayed.`)) after();
  };
  const failed = [...jobs.map((job) => job.state), state].some((each) => ["dead", "cancelled"].includes(each));
  return html`${failed && html`<button class="primary" onClick=${retry}>Retry what failed</button>`}
  ${!FINISHED.includes(state) && html`<button class="warns" onClick=${cancel}>Cancel</button>`}`;
}
