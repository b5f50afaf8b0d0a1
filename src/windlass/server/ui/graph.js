/** The steps of a workflow as a graph, in SVG. */
import { html, useMemo } from "./dom.js";
import { count } from "./format.js";
import { layout } from "./layered.js";
import { address, to } from "./router.js";
import { STATES } from "./states.js";

const SIZE = { width: 176, height: 46, gapX: 56, gapY: 16 };
const EDGE = 10;
/** With more of them, steps of one task that depend on the same are drawn as one. */
const MOST = 60;
const LONGEST = 21;

/** @param {{jobs: object[]}} props */
export function Graph({ jobs }) {
  const shape = jobs.map((job) => `${job.id} ${job.depends_on.join()}`).join();
  const nodes = useMemo(() => (jobs.length > MOST ? together(jobs) : apart(jobs)), [shape]);
  const drawn = useMemo(() => layout(nodes, SIZE), [nodes]);
  const stateOf = new Map(jobs.map((job) => [job.id, job.state]));
  const [width, height] = [drawn.width + 2 * EDGE, drawn.height + 2 * EDGE];
  return html`<div class="graph scroll" tabindex="0" role="group" aria-label="Graph of the steps">
    <svg width=${width} height=${height} viewBox=${`${-EDGE} ${-EDGE} ${width} ${height}`} role="group" aria-label="Steps, from left to right">
      ${drawn.edges.map((edge) => html`<path class=${`edge edge-${worst(edge.from, nodes, stateOf)}`} d=${curve(edge.points)} />`)}
      ${nodes.map((node) => html`<${Node} key=${node.id} node=${node} place=${drawn.at.get(node.id)} stateOf=${stateOf} />`)}
    </svg>
  </div>`;
}

function Node({ node, place: { x, y }, stateOf }) {
  const states = node.jobs.map((id) => stateOf.get(id));
  const state = weightiest(states);
  const name = node.task.length > LONGEST ? `${node.task.slice(0, LONGEST - 1)}…` : node.task;
  const said = node.jobs.length > 1 ? tally(states) : state;
  const href = node.jobs.length > 1 ? address("ui/jobs", { task: node.task }) : to`ui/jobs/${node.jobs[0]}`;
  return html`<a href=${href} class="node" aria-label=${`${node.task}: ${said}`}>
    <title>${node.task}: ${said}</title>
    <rect class=${`box box-${state}`} x=${x} y=${y} width=${SIZE.width} height=${SIZE.height} rx="6" />
    <rect class=${`fill-${state}`} x=${x} y=${y} width="5" height=${SIZE.height} rx="2" />
    <text x=${x + 16} y=${y + 19}>${name}</text>
    <text class="note" x=${x + 16} y=${y + 36}>${said}</text>
  </a>`;
}

const apart = (jobs) => jobs.map((job) => ({ id: job.id, task: job.task, jobs: [job.id], parents: job.depends_on }));

/** Steps of one task in one depth as one node. */
function together(jobs) {
  const depth = new Map();
  const byId = new Map(jobs.map((job) => [job.id, job]));
  const deep = (id) => {
    if (!byId.has(id)) return -1;
    if (!depth.has(id)) depth.set(id, Math.max(-1, ...byId.get(id).depends_on.map(deep)) + 1);
    return depth.get(id);
  };
  const nodes = new Map();
  const nameOf = (job) => `${deep(job.id)} ${job.task}`;
  for (const job of jobs) {
    const id = nameOf(job);
    const node = nodes.get(id) ?? { id, task: job.task, jobs: [], parents: [] };
    node.jobs.push(job.id);
    node.parents = [...new Set([...node.parents, ...job.depends_on.filter((each) => byId.has(each)).map((each) => nameOf(byId.get(each)))])];
    nodes.set(id, node);
  }
  return [...nodes.values()];
}

const GRAVITY = ["dead", "active", "retry", "pending", "scheduled", "blocked", "cancelled", "completed"];
const weightiest = (states) => GRAVITY.find((state) => states.includes(state)) ?? "blocked";
const worst = (id, nodes, stateOf) => weightiest(nodes.find((node) => node.id === id).jobs.map((each) => stateOf.get(each)));

function tally(states) {
  const parts = STATES.map((state) => [state, states.filter((each) => each === state).length]).filter(([, number]) => number);
  return parts.map(([state, number]) => `${count(number)} ${state}`).join(", ");
}

/** A line that leaves and arrives level. */
function curve(points) {
  return points
    .map(([x, y], index) => {
      if (!index) return `M${x} ${y}`;
      const [fromX, fromY] = points[index - 1];
      const middle = (fromX + x) / 2;
      return `C${middle} ${fromY} ${middle} ${y} ${x} ${y}`;
    })
    .join("");
}
