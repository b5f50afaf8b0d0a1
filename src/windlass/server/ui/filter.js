/** Which jobs are listed: what the address says, as the API takes it. Pure. */
const FIELDS = ["state", "queue", "task", "worker", "label", "since", "until", "argument", "error", "fingerprint"];
const MANY = ["state", "label", "argument"];

/** The filter in a query of the address. */
export function filterOf(query) {
  const found = {};
  for (const name of FIELDS) found[name] = MANY.includes(name) ? query.getAll(name) : (query.get(name) ?? "");
  return found;
}

/** The filter as changes of many jobs take it: without what is empty. */
export function whereOf({ state, ...rest }) {
  const given = Object.entries(rest).filter(([, value]) => value.length);
  return { ...(state.length && { states: state }), ...Object.fromEntries(given) };
}

/** Whether nothing is filtered. */
export const isOpen = (filter) => FIELDS.every((name) => !filter[name].length);

/** Whether the counts of the queues say how many there are. */
const isCounted = (filter) => FIELDS.every((name) => ["state", "queue"].includes(name) || !filter[name].length);

/** How many jobs match, by the counts of the queues; null if these do not tell. */
export const matching = (filter, queues) => (isCounted(filter) ? eligible(filter, queues) : null);

/** How many jobs are of the states and the queue of a filter, whatever else it says; null if unknown. */
export function eligible(filter, queues) {
  if (!queues) return null;
  let total = 0;
  for (const { name, counts } of queues)
    if (!filter.queue || name === filter.queue)
      for (const [state, number] of Object.entries(counts))
        if (!filter.state.length || filter.state.includes(state)) total += number;
  return total;
}

/** What a filter says, in words. */
export function inWords(filter) {
  const parts = [];
  if (filter.state.length) parts.push(filter.state.join(" or "));
  for (const name of FIELDS.slice(1)) if (filter[name].length) parts.push(`${name} ${[filter[name]].flat().join(", ")}`);
  return parts.join("; ") || "all jobs";
}

/** A moment of the API as an input for local time has it, and back. */
export function toLocal(iso) {
  if (!iso) return "";
  const at = new Date(iso);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
export const fromLocal = (text) => (text ? new Date(text).toISOString() : "");
