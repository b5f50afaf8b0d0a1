/** Which jobs of a list are selected: some, or all that match its filter. */
import { useEffect, useMemo, useRef, useState } from "./dom.js";

/**
 * @typedef {ReturnType<typeof useSelection>} Selection
 * @param {object[]} jobs those on this page
 * @param {unknown} about what is listed; with another filter nothing is selected
 */
export function useSelection(jobs, about) {
  const [ids, setIds] = useState(() => new Set());
  const [all, setAll] = useState(false);
  const last = useRef(null);
  const clear = () => {
    setIds(new Set());
    setAll(false);
    last.current = null;
  };
  useEffect(clear, [about]);

  return useMemo(() => {
    const here = jobs.map(({ id }) => id);
    const change = (change) => {
      setAll(false);
      setIds((before) => {
        const after = new Set(before);
        change(after);
        return after;
      });
    };
    return {
      ids,
      /** whether all that match are selected, on other pages too */
      all,
      has: (id) => all || ids.has(id),
      get size() {
        return ids.size;
      },
      isPage: here.length > 0 && here.every((id) => ids.has(id)),
      clear,
      selectAll: () => setAll(true),
      setPage: (on) => change((set) => here.forEach((id) => (on ? set.add(id) : set.delete(id)))),
      /** With `range`, all from the one before to this one become as this one. */
      toggle(id, range) {
        const [from, until] = [here.indexOf(last.current), here.indexOf(id)];
        const on = all ? false : !ids.has(id);
        const meant = range && from >= 0 ? here.slice(Math.min(from, until), Math.max(from, until) + 1) : [id];
        last.current = id;
        change((set) => {
          if (all) here.forEach((each) => set.add(each));
          meant.forEach((each) => (on ? set.add(each) : set.delete(each)));
        });
      },
    };
  }, [jobs, ids, all]);
}
