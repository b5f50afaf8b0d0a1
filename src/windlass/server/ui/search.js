/**
 * A page of a list of which the server looks at a bounded part for each answer, for few of many jobs
 * may match: it is asked until the page is full, the list ends, or the reader stops it.
 */
import { get } from "./api.js";
import { useEffect, useRef, useState } from "./dom.js";
import { useLoad } from "./load.js";
import { whenSeen } from "./sight.js";

/** Between two answers, so that a search leaves the store to others too. */
const BREATH = 50;

/**
 * @typedef {{jobs: object[], cursor: string?, looked_at: number, answers: number}} Found with a cursor
 *   if there may be more, be it that the page is full or that the search was stopped
 * @param {unknown[]} about as of `useLoad`
 * @param {string} address of the list
 * @param {{limit: number, cursor: string?}} query the filter too
 * @param {{on: import("./cell.js").Cell[], still?: boolean}} options as of `useLoad`
 */
export function useSearch(about, address, query, { on, still = false }) {
  const run = useRef({ stopped: false });
  const [lasting, setLasting] = useState(false);
  const ask = async (signal, tell) => {
    const mine = (run.current = { stopped: false });
    let found = { jobs: [], cursor: query.cursor, looked_at: 0, answers: 0 };
    for (;;) {
      const limit = query.limit - found.jobs.length;
      found = added(found, await get(address, { ...query, limit, cursor: found.cursor }, { signal }));
      if (!found.cursor || found.jobs.length >= query.limit || mine.stopped) return found;
      tell(found);
      await new Promise((resolve) => setTimeout(resolve, BREATH));
      await whenSeen();
    }
  };
  // What took more than one answer is not begun anew at every change in the store.
  const list = useLoad(about, ask, { keep: true, on, still: still || lasting });
  useEffect(() => setLasting(list.data?.answers > 1), [list.data]);
  const full = list.data?.jobs.length >= query.limit;
  const going = list.loading && Boolean(list.data?.cursor) && !full;
  return { ...list, lasting, going, full, stop: () => (run.current.stopped = true) };
}

const added = (before, { jobs, cursor, looked_at: looked, previews }) => ({
  jobs: [...before.jobs, ...jobs.map((job) => ({ ...job, preview: Object.hasOwn(previews, job.id) ? previews[job.id] : "" }))],
  cursor,
  looked_at: before.looked_at + looked,
  answers: before.answers + 1,
});
