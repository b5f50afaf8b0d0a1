/** The same change to many jobs, batch by batch, so that one can watch it and stop it. */
import { get, post } from "./api.js";
import { now } from "./clock.js";
import { allows } from "./states.js";

const BATCH = 200;
const REASONS = 5;

export const ACTIONS = {
  cancel: { verb: "Cancel", done: "cancelled", danger: true },
  replay: { verb: "Replay", done: "replayed" },
  delete: { verb: "Delete", done: "deleted", danger: true },
  reschedule: { verb: "Reschedule", done: "rescheduled" },
  priority: { verb: "Change priority", done: "changed" },
};

/**
 * @param {{action: string, options?: object, ids?: string[], filter?: object}} asked either `ids`, or
 *   all that match `filter` and were there at the beginning
 * @param {(sofar: {changed: number, left: number, reasons: string[]}) => void} tell
 * @param {AbortSignal} signal stops it before the next batch
 */
export async function changeMany({ action, options = {}, ids, filter }, tell, signal) {
  const sofar = { changed: 0, left: 0, reasons: [] };
  for await (const batch of ids ? inBatches(ids) : found(action, filter, sofar)) {
    if (signal.aborted) break;
    if (batch.length) {
      const answer = await post("jobs/bulk", { action, ids: batch, ...options });
      sofar.changed += answer.changed;
      sofar.left += answer.left;
      sofar.reasons = [...sofar.reasons, ...Object.values(answer.refused)].slice(0, REASONS);
    }
    tell({ ...sofar });
  }
  return sofar;
}

function* inBatches(ids) {
  for (let start = 0; start < ids.length; start += BATCH) yield ids.slice(start, start + BATCH);
}

/** The ids that match, page by page. What the change itself moves to a later page comes only once. */
async function* found(action, filter, sofar) {
  const [began, met] = [new Date(now()).toISOString(), new Set()];
  let cursor;
  do {
    const page = await get("jobs", { ...filter, limit: BATCH, cursor });
    const fresh = page.jobs.filter((job) => job.created_at <= began && !met.has(job.id));
    const fit = fresh.filter((job) => allows(action, job.state));
    for (const { id } of fresh) met.add(id);
    sofar.left += fresh.length - fit.length;
    yield fit.map(({ id }) => id);
    cursor = page.cursor;
  } while (cursor);
}
