/**
 * What views are written with. Whatever is put into a template becomes text or a property, never
 * markup: names and payloads can hold anything.
 */
import { h } from "./vendor/preact.js";
import htm from "./vendor/htm.js";

export { render } from "./vendor/preact.js";
export {
  useCallback,
  useEffect,
  useErrorBoundary,
  useId,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "./vendor/hooks.js";

export const html = htm.bind(h);

/** Class names of those given; falsy ones are left out. */
export const classes = (...names) => names.filter(Boolean).join(" ");
