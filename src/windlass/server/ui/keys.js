/** Keyboard shortcuts: one table, which the help shows. They can be turned off. */
import { Cell, useCell } from "./cell.js";
import { html } from "./dom.js";
import { ask } from "./dialog.js";
import { go } from "./router.js";
import { nextTheme } from "./theme.js";

const KEY = "windlass.keys";
const PATIENCE = 1_200;

/** Whether single keys do something; those with screen readers or dictation may not want it. */
const enabled = new Cell(localStorage.getItem(KEY) !== "off");

/** What a view can offer: "refresh" is called by r. */
export const actions = { refresh: null };

const PLACES = [
  ["o", "Overview", ""],
  ["q", "Queues", "ui/queues"],
  ["j", "Jobs", "ui/jobs"],
  ["d", "Dead", "ui/dead"],
  ["f", "Workflows", "ui/workflows"],
  ["c", "Cron", "ui/cron"],
  ["w", "Workers", "ui/workers"],
  ["h", "History", "ui/history"],
  ["e", "Enqueue", "ui/enqueue"],
];

const SHORTCUTS = [
  ...PLACES.map(([key, name, path]) => [`g ${key}`, `Go to ${name}`, () => go(path)]),
  ["/", "Filter, or search", () => focus("[data-search]")],
  ["j", "Next row", () => step(1)],
  ["k", "Previous row", () => step(-1)],
  ["x", "Select the row", () => rowOf(document.activeElement)?.querySelector("input[type=checkbox]")?.click()],
  ["r", "Refresh", () => actions.refresh?.()],
  ["t", "Light, dark or as the system", nextTheme],
  ["?", "This help", () => void help()],
];
const NATIVE = [
  ["Enter", "Open the row"],
  ["Esc", "Close the dialog"],
];

function focus(selector) {
  document.querySelector(selector)?.focus();
}

const rowOf = (element) => element?.closest("[data-row]");

function step(by) {
  const rows = [...document.querySelectorAll("[data-row]")];
  const at = rows.indexOf(rowOf(document.activeElement));
  const next = at < 0 ? (by > 0 ? 0 : rows.length - 1) : at + by;
  const target = rows[Math.min(Math.max(next, 0), rows.length - 1)];
  target?.querySelector("a[href], button")?.focus();
}

let prefix = "";
let pressed = 0;

function hear(event) {
  if (!enabled.value || event.metaKey || event.ctrlKey || event.altKey) return;
  if (event.target.closest("input, textarea, select, dialog[open], [contenteditable]")) return;
  const key = Date.now() - pressed < PATIENCE && prefix ? `${prefix} ${event.key}` : event.key;
  prefix = event.key === "g" && !prefix ? "g" : "";
  pressed = Date.now();
  const found = SHORTCUTS.find(([keys]) => keys === key);
  if (!found) return;
  event.preventDefault();
  found[2]();
}

export function help() {
  return ask("Keys", (close) => html`<${Help} close=${close} />`);
}

function Help({ close }) {
  const on = useCell(enabled);
  const toggle = () => {
    enabled.value = !on;
    localStorage.setItem(KEY, on ? "off" : "on");
  };
  return html`<dl class="keys">
      ${[...SHORTCUTS, ...NATIVE].map(
        ([keys, name]) => html`<div>
          <dt>${keys.split(" ").map((key) => html`<kbd>${key}</kbd> `)}</dt>
          <dd>${name}</dd>
        </div>`,
      )}
    </dl>
    <label class="check"><input type="checkbox" checked=${on} onChange=${toggle} /> Single keys do this</label>
    <div class="buttons"><button class="primary" autofocus onClick=${() => close()}>Close</button></div>`;
}

export const startKeys = () => document.addEventListener("keydown", hear);
