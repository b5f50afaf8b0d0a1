/** The frame around every view: navigation, the state of the connection, messages. */
import { useCell } from "./cell.js";
import { html, useEffect, useState } from "./dom.js";
import { Dialogs } from "./dialog.js";
import { connect, disconnect, link } from "./live.js";
import { Menu } from "./menu.js";
import { Empty, Failure, Skeleton } from "./parts/standing.js";
import { identify, may, me, outdated } from "./session.js";
import { Toasts } from "./toast.js";
import { View } from "./view.js";
import { Login } from "./views/login.js";

const AGAIN = 5_000;

export function Shell() {
  const who = useCell(me);
  const [error, setError] = useState(null);
  const begin = () => identify().then(() => setError(null), setError);

  useEffect(() => void begin(), []);
  useEffect(() => {
    if (!error?.passes) return undefined;
    const timer = setTimeout(begin, AGAIN);
    return () => clearTimeout(timer);
  }, [error]);
  useEffect(() => {
    if (!may("read")) return undefined;
    connect();
    const stop = whenBack(() => void identify().catch(setError));
    return () => {
      stop();
      disconnect();
    };
  }, [Boolean(who)]);

  if (who === null) return html`<${Login} /><${Toasts} />`;
  return html`<div class="shell">
      <${Menu} />
      <main id="main" tabindex="-1">
        <${Outdated} />
        ${who ? html`<${Allowed} />` : error ? html`<${Failure} error=${error} retry=${begin} />` : html`<${Skeleton} />`}
      </main>
    </div>
    <${Toasts} /><${Dialogs} />`;
}

/** Calls `listener` when the connection is there again: it may be to another server. */
function whenBack(listener) {
  let away = false;
  return link.follow((state) => {
    if (state === "live" && away) listener();
    away = state === "offline" || (away && state !== "live");
  });
}

/** A key that is for producers or workers has nothing to look at. */
const Allowed = () =>
  may("read")
    ? html`<${View} />`
    : html`<h1>Nothing to see</h1>
        <${Empty} title="This key may not look.">The dashboard needs a key with the role <code>read</code> or <code>operate</code>.<//>`;

function Outdated() {
  return useCell(outdated) && html`<p class="stale outdated" role="status">
    The server was updated. <button onClick=${() => location.reload()}>Reload the page</button>
  </p>`;
}
