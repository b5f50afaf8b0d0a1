/** A value that components follow: the state that more than one of them needs. */
import { useLayoutEffect, useState } from "./dom.js";

export class Cell {
  #value;
  #listeners = new Set();

  constructor(value) {
    this.#value = value;
  }

  get value() {
    return this.#value;
  }

  set value(value) {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    for (const listener of [...this.#listeners]) listener(value);
  }

  /** Calls `listener` with each new value; returns how to stop that. */
  follow(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** The value of a cell; the component is rendered again when it changes. */
export function useCell(cell) {
  const [, rerender] = useState(0);
  useLayoutEffect(() => {
    const seen = cell.value;
    const stop = cell.follow(() => rerender((n) => n + 1));
    if (cell.value !== seen) rerender((n) => n + 1);
    return stop;
  }, [cell]);
  return cell.value;
}
