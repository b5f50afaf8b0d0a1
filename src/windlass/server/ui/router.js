/** Addresses: each view has its own, and everything that matters in a view is in its address. */
import { queryOf } from "./address.js";
import { Cell } from "./cell.js";

export { path as to } from "./address.js";

const BASE = new URL(".", document.baseURI);

/** @type {Cell<{path: string, query: URLSearchParams}>} where we are, below the base */
export const place = new Cell(here());

function here() {
  const path = location.pathname.slice(BASE.pathname.length).replace(/\/$/, "");
  return { path, query: new URLSearchParams(location.search) };
}

/** Goes to an address below the base, as in "ui/jobs?state=dead". */
export function go(address, { replace = false } = {}) {
  const target = new URL(address, BASE);
  if (target.href === location.href) return;
  history[replace ? "replaceState" : "pushState"](null, "", target);
  if (!replace) scrollTo(0, 0);
  place.value = here();
}

/** An address with a query; values that are empty are left out. */
export function address(path, query = {}) {
  const text = queryOf(query).toString();
  return text ? `${path}?${text}` : path;
}

/** The values of a pattern such as "ui/jobs/:id" in a path, or null if it is another. */
export function match(pattern, path) {
  const [asked, given] = [pattern.split("/"), path.split("/")];
  if (asked.length !== given.length) return null;
  const values = {};
  for (const [index, part] of asked.entries()) {
    if (part.startsWith(":")) values[part.slice(1)] = decoded(given[index]);
    else if (part !== given[index]) return null;
  }
  return values;
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Lets links within the dashboard change the view instead of loading a page. */
export function start() {
  addEventListener("popstate", () => (place.value = here()));
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href]");
    if (!link || event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const target = new URL(link.getAttribute("href"), BASE);
    const path = target.pathname.slice(BASE.pathname.length);
    const inside = target.origin === BASE.origin && target.pathname.startsWith(BASE.pathname);
    if (!inside || link.target || link.download || !/^(ui(\/|$)|$)/.test(path)) return;
    event.preventDefault();
    go(target.href);
  });
}
