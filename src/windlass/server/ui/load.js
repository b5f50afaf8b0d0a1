/** What a view needs of the server: asked for, kept up to date, and honest about failing. */
import { useCallback, useEffect, useRef, useState } from "./dom.js";
import { link } from "./live.js";
import { seen } from "./sight.js";

/** At most so often; of what takes long, so many times as long passes in between, within reason. */
const EASE = 1000;
const REST = 20;
const LONGEST = 10_000;
const NOTHING = { data: null, error: null, loading: true };

/**
 * @template T
 * @param {unknown[]} about what it is asked by: with others, it is asked anew
 * @param {(signal: AbortSignal, tell: (sofar: T) => void) => Promise<T>} ask what it tells is shown
 *   until the whole answer is there
 * @param {{every?: number, on?: import("./cell.js").Cell[], keep?: boolean, still?: boolean}} options
 *   `every`: ms after which it is asked again; `on`: cells whose changes are a reason to, as is that
 *   somebody looks again; `still`: none of these is; `keep`: what was there stays until the next
 *   answer, although it is about something else
 * @returns {{data: T | null, error: Error | null, loading: boolean, reload: () => Promise<void>}}
 */
export function useLoad(about, ask, { every = 0, on = [], keep = false, still = false } = {}) {
  const [found, setFound] = useState(NOTHING);
  const current = useRef({ ask, run: null, took: 0 });
  current.current.ask = ask;

  const reload = useCallback(async () => {
    const [mine, began] = [new AbortController(), Date.now()];
    const tell = (data, loading = true) => mine.signal.aborted || setFound({ data, error: null, loading });
    current.current.run?.abort();
    current.current.run = mine;
    setFound((before) => ({ ...before, loading: true }));
    try {
      tell(await current.current.ask(mine.signal, tell), false);
    } catch (error) {
      if (!mine.signal.aborted) setFound((before) => ({ ...before, error, loading: false }));
    } finally {
      if (current.current.run === mine) current.current.run = null;
      current.current.took = Date.now() - began;
    }
  }, []);

  useEffect(() => {
    if (!keep) setFound(NOTHING);
    void reload();
    return () => current.current.run?.abort();
  }, about);

  useEffect(() => {
    // What failed for want of a server is asked for again as soon as there is one.
    if (!found.error?.passes) return undefined;
    return link.follow((state) => state === "live" && void reload());
  }, [found.error]);
  useAgain(reload, current, { every, on, still });
  return { ...found, reload };
}

/**
 * Calls `again` every so often and when something changed, while seen. News that come faster than
 * answers do not call off the question before: nothing would ever be answered.
 * @param {{current: {run: AbortController?, took: number}}} asked what was asked last
 */
function useAgain(again, asked, { every, on, still }) {
  useEffect(() => {
    if (still) return undefined;
    let due = 0;
    let last = Date.now();
    const soon = (delay) => {
      clearTimeout(due);
      due = setTimeout(() => {
        if (asked.current.run) {
          soon(EASE);
          return;
        }
        last = Date.now();
        if (seen.value) void again();
        if (every) soon(every);
      }, delay);
    };
    const ease = () => Math.min(Math.max(EASE, asked.current.took * REST), every || LONGEST);
    const hurry = () => soon(Math.max(ease() - (Date.now() - last), 0));
    const stops = on.map((cell) => cell.follow(hurry));
    stops.push(seen.follow((visible) => visible && hurry()));
    if (every) soon(every);
    return () => {
      clearTimeout(due);
      for (const stop of stops) stop();
    };
  }, [again, every, still, ...on]);
}
