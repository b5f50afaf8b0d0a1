/** What the whole store looks like now, as the server tells it. */
import { Cell } from "./cell.js";
import { follow } from "./stream.js";

/** "connecting", "live", "offline" or "paused". */
export const link = new Cell("connecting");
/** @type {Cell<null | object[]>} null until the first event */
export const queues = new Cell(null);
/** @type {Cell<null | object[]>} */
export const workers = new Cell(null);
/** How many jobs are dead: changes less often than the rest. */
export const deaths = new Cell(0);

let stop = null;

/** Begins to follow, anew if it did already. */
export function connect() {
  disconnect();
  stop = follow({}, { hear, tell: (state) => (link.value = state) });
}

export function disconnect() {
  stop?.();
  stop = null;
  // Somebody else may log in, who is not to see them.
  queues.value = workers.value = null;
}

function hear(name, data) {
  if (name === "queues") {
    queues.value = data.queues;
    deaths.value = totals(data.queues).dead ?? 0;
  }
  if (name === "workers") workers.value = data.workers;
}

/** How many jobs there are in each state, of all queues. */
export function totals(found) {
  const sums = {};
  for (const queue of found ?? [])
    for (const [state, number] of Object.entries(queue.counts))
      sums[state] = (sums[state] ?? 0) + number;
  return sums;
}
