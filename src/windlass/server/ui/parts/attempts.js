/** What each attempt of a job came to, and what it logged. */
import { html } from "../dom.js";
import { between, count, duration, exactTime } from "../format.js";
import { Moment, Since } from "./moment.js";
import { Empty } from "./standing.js";
import { Payload } from "./payload.js";
import { State } from "./state.js";

/** @param {{attempts: object[]}} props oldest first; shown the other way round, with the newest open */
export function Attempts({ attempts }) {
  if (!attempts.length) return html`<${Empty} small title="No attempt is on record.">It has not run yet, or its attempts are no longer kept.<//>`;
  return html`<ol class="attempts">
    ${attempts.toReversed().map((each, index) => html`<${Attempt} key=${each.fence} attempt=${each} open=${!index} />`)}
  </ol>`;
}

function Attempt({ attempt, open }) {
  const { attempt: number, worker, started_at: from, ended_at: until, state, error, lines = [], dropped } = attempt;
  return html`<li>
    <div class="attempt-head">
      <h3>Attempt ${number}</h3>
      ${until ? html`<${State} state=${state} />` : html`<${State} state="active" />`}
      <span><${Moment} at=${from} />, ${until ? duration(between(from, until)) : html`<${Since} at=${from} />`}</span>
      <span class="muted mono">${worker}</span>
    </div>
    ${error && html`<${Failure} error=${error} open=${open} />`}
    ${lines.length > 0 &&
    html`<details class="logs" open=${open}>
      <summary>${count(lines.length)} ${lines.length === 1 ? "line" : "lines"} logged</summary>
      <${Lines} lines=${lines} dropped=${dropped} />
    </details>`}
  </li>`;
}

/** An error: what it was in one line, and where it came from. */
export function Failure({ error, open = true }) {
  return html`<div class="error">
    <p><b>${error.kind}</b>: ${error.message || "without a message"}</p>
    ${error.traceback && html`<details open=${open}><summary>Traceback</summary><${Payload} value=${error.traceback} name="traceback" /></details>`}
  </div>`;
}

function Lines({ lines, dropped }) {
  return html`<div class="lines" tabindex="0" role="group" aria-label="Log">
    ${dropped > 0 && html`<p class="muted">${count(dropped)} earlier lines were dropped.</p>`}
    ${lines.map(
      ({ at, level, logger, text }) => html`<p class=${`level-${level.toLowerCase()}`}>
        <time datetime=${at}>${exactTime(at)}</time> <b>${level}</b> <span class="muted">${logger}</span> ${text}
      </p>`,
    )}
  </div>`;
}
