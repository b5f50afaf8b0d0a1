/** What holds jobs of a queue back: limits, sequences and batches. */
import { get } from "../api.js";
import { html } from "../dom.js";
import { count, duration } from "../format.js";
import { useLoad } from "../load.js";
import { Empty, Loaded } from "./standing.js";

const EVERY = 5_000;
const SHOWN = 200;

/** @param {{queue: string}} props */
export function Limits({ queue }) {
  const found = useLoad([queue], (signal) => get("limits", { queue, limit: SHOWN }, { signal }), { every: EVERY });
  return html`<${Loaded} of=${found} lines=${2}>
    ${({ limits }) =>
      limits.length
        ? html`<div class="scroll">
            <table>
              <thead>
                <tr><th scope="col">Name</th><th scope="col">Kind</th><th scope="col">Allows</th><th scope="col" class="number">Running</th><th scope="col" class="number">Waiting</th></tr>
              </thead>
              <tbody>
                ${limits.map(
                  (each) => html`<tr>
                    <th scope="row">${each.name || "–"}</th><td>${each.kind}</td><td>${allowed(each)}</td>
                    <td class="number">${count(each.holders)}</td><td class="number">${count(each.waiting)}</td>
                  </tr>`,
                )}
              </tbody>
            </table>
          </div>`
        : html`<${Empty} small title="No limit holds jobs of this queue back.">Limits, sequences and batches show up while jobs are in them.<//>`}
  <//>`;
}

function allowed({ concurrency, starts, per, burst, size, kind }) {
  const parts = [];
  if (concurrency) parts.push(`${count(concurrency)} at a time`);
  if (starts) parts.push(`${count(starts)} starts in ${duration(per)}${burst > 1 ? `, ${count(burst)} at once` : ""}`);
  if (size) parts.push(`${count(size)} together`);
  return parts.join("; ") || (kind === "sequence" ? "one after the other" : "–");
}
