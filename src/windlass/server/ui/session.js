/** Who looks, and what they may do. */
import { Cell } from "./cell.js";
import { get, onUnauthenticated, post } from "./api.js";

// Beside the API, not in it.
const [LOGIN, LOGOUT] = ["../../login", "../../logout"];

/** @type {Cell<undefined | null | {name: string, roles: string[]}>} null: nobody is logged in */
export const me = new Cell(undefined);

onUnauthenticated(() => (me.value = null));

/** Whether the server is another version than the one that this page came from. */
export const outdated = new Cell(false);

/** Asks who looks; throws if the server cannot be reached. */
export async function identify() {
  try {
    const found = await get("me");
    outdated.value ||= Boolean(me.value) && me.value.version !== found.version;
    me.value = found;
  } catch (error) {
    if (error.status !== 401) throw error;
  }
}

/** Whether a button for this is shown. The server decides by itself. */
export const may = (role) => Boolean(me.value?.roles.includes(role));

/** Logs in with a key. */
export async function enter(key) {
  me.value = await post(LOGIN, { key });
}

export async function leave() {
  await post(LOGOUT);
  me.value = null;
}
