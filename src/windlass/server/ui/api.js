/** Requests to the API of this server. */
import { queryOf } from "./address.js";
import { note } from "./clock.js";

export { path } from "./address.js";

const ROOT = new URL("api/v1/", document.baseURI);
const LONGEST = 60_000;

/** An answer that refuses: `message` is one sentence that says what was wrong. */
export class Problem extends Error {
  constructor(message, { status = 0, kind = "Unreachable" } = {}) {
    super(message);
    this.status = status;
    this.kind = kind;
  }

  /** Whether the same request may well succeed later. */
  get passes() {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

let refused = () => {};

/** Calls `listener` when a request is refused because nobody is logged in, or no longer. */
export const onUnauthenticated = (listener) => (refused = listener);

/** The URL of an address of the API; of the query, what is empty is left out. */
export function url(address, query = {}) {
  const found = new URL(address, ROOT);
  found.search = queryOf(query);
  return found;
}

export const get = (address, query, options) => ask("GET", url(address, query), undefined, options);
export const post = (address, body, options) => ask("POST", url(address), body, options);
export const put = (address, body) => ask("PUT", url(address), body);
export const patch = (address, body) => ask("PATCH", url(address), body);
export const remove = (address) => ask("DELETE", url(address));

async function ask(method, address, body, { signal } = {}) {
  const late = AbortSignal.timeout(LONGEST);
  const answer = await reach(address, {
    method,
    body: body === undefined ? undefined : JSON.stringify(body),
    headers: body === undefined ? {} : { "Content-Type": "application/json" },
    signal: signal ? AbortSignal.any([signal, late]) : late,
  });
  note(answer.headers.get("Date"));
  if (!answer.ok) throw await problem(answer);
  return answer.status === 204 ? null : answer.json();
}

/** As `fetch`; a server that cannot be reached is a `Problem`, an abort of the caller's is not. */
export async function reach(address, options) {
  try {
    return await fetch(address, { credentials: "same-origin", ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    if (error.name === "TimeoutError") throw new Problem("The server did not answer in time.");
    throw new Problem("The server cannot be reached.");
  }
}

/** The refusal that an answer is. */
export async function problem(answer) {
  if (answer.status === 401) refused();
  const said = await answer.json().catch(() => ({}));
  return new Problem(said.detail ?? `The server answered with ${answer.status}.`, {
    status: answer.status,
    kind: said.error,
  });
}
