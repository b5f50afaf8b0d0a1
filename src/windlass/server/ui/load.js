/** What a view needs of the server: asked for, kept up to date, and honest about failing. */
import { seen } from "./sight.js";
import { useCallback, useEffect, useRef, useState } from "./dom.js";
import { link } from "./live.js";

const NOTHING = { data: null, error: null, loading: true };

/**
 * @template T
 * @param {unknown[]} about what it is asked by: with others, it is asked anew
 * @param {(signal: AbortSignal) => Promise<T>} ask
 * @param {{every?: number, on?: import("./cell.js").Cell[], keep?: boolean}} options `every`: ms after
 *   which it is asked again; `on`: cells whose changes are a reason to; `keep`: what was there stays
 *   until the next answer, although it is about something else
 * @returns {{data: T | null, error: Error | null, loading: boolean, reload: () => Promise<void>}}
 */
export function useLoad(about, ask, { every = 0, on = [], keep = false } = {}) {
  const [found, setFound] = useState(NOTHING);
  const current = useRef({ ask, run: null });
  current.current.ask = ask;

  const reload = useCallback(async () => {
    const mine = new AbortController();
    current.current.run?.abort();
    current.current.run = mine;
    setFound((before) => ({ ...before, loading: true }));
    try {
      const data = await current.current.ask(mine.signal);
      if (!mine.signal.aborted) setFound({ data, error: null, loading: false });
    } catch (error) {
      if (!mine.signal.aborted) setFound((before) => ({ ...before, error, loading: false }));
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
  useAgain(reload, every, on);
  return { ...found, reload };
}

/** Calls `again` every so often and when something changed, at most once a second, while seen. */
function useAgain(again, every, on) {
  const EASE = 1000;
  useEffect(() => {
    let due = 0;
    let last = Date.now();
    const soon = (delay) => {
      clearTimeout(due);
      due = setTimeout(() => {
        last = Date.now();
        if (seen.value) void again();
        if (every) soon(every);
      }, delay);
    };
    const hurry = () => soon(Math.max(EASE - (Date.now() - last), 0));
    const stops = on.map((cell) => cell.follow(hurry));
    stops.push(seen.follow((visible) => visible && hurry()));
    if (every) soon(every);
    return () => {
      clearTimeout(due);
      for (const stop of stops) stop();
    };
  }, [again, every]);
}
