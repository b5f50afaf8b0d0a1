/** The time, by the server's clock: an operator's own may be wrong. */
import { Cell } from "./cell.js";

const TICK = 1000;
let ahead = 0;

/** Takes the `Date` of an answer. It has whole seconds, so that less than two is no difference. */
export function note(date) {
  const moment = Date.parse(date ?? "");
  if (Number.isNaN(moment)) return;
  const found = moment + 500 - Date.now();
  ahead = Math.abs(found) < 2000 ? 0 : found;
}

export const now = () => Date.now() + ahead;

/** The time, about once a second while somebody looks. */
export const clock = new Cell(now());

setInterval(() => {
  if (!document.hidden) clock.value = now();
}, TICK);
