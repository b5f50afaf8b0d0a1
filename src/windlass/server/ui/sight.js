/** Whether anybody looks at the page: nothing is asked of the server for a hidden one. */
import { Cell } from "./cell.js";

export const seen = new Cell(!document.hidden);

document.addEventListener("visibilitychange", () => {
  seen.value = !document.hidden;
});

/** Waits until somebody looks. */
export const whenSeen = () =>
  new Promise((resolve) => {
    if (seen.value) return resolve();
    const stop = seen.follow(() => {
      stop();
      resolve();
    });
  });
