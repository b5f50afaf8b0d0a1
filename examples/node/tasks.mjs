// The tasks of the example worker, by name. `signal` tells a handler that nobody waits for it.
import { setTimeout as sleep } from "node:timers/promises";

export class Fatal extends Error {} // it would fail again: no retry

export const tasks = {
  add: (a, b) => a + b,
  nap: (ms, { signal }) => sleep(ms, "rested", { signal }),
  fail: (text) => { throw new Error(text); },
  refuse: (text) => { throw new Fatal(text); },
};
