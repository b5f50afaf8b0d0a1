/** The same change to many jobs, round by round, so that one can watch it and stop it. */
import { post } from "./api.js";
import { whereOf } from "./filter.js";

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
 * @param {(sofar: {changed: number, left: number, seen: number, of: number, reasons: string[]}) => void} tell
 * @param {AbortSignal} signal stops it before the next round
 */
export async function changeMany({ action, options = {}, ids, filter }, tell, signal) {
  const sofar = { changed: 0, left: 0, seen: 0, of: ids?.length ?? 0, reasons: [] };
  let cursor;
  do {
    const what = ids ? { ids: ids.slice(sofar.seen, sofar.seen + BATCH) } : { where: whereOf(filter), cursor };
    const answer = await post("jobs/bulk", { action, ...what, ...options });
    sofar.changed += answer.changed;
    sofar.left += answer.left;
    sofar.seen += ids ? what.ids.length : answer.looked_at;
    sofar.of = ids ? ids.length : answer.of;
    sofar.reasons = [...sofar.reasons, ...Object.values(answer.refused)].slice(0, REASONS);
    cursor = answer.cursor;
    tell({ ...sofar });
  } while (!signal.aborted && (ids ? sofar.seen < ids.length : cursor));
}
