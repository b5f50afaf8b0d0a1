/** The frame around every view: navigation, the state of the connection, messages. */
import { useCell } from "./cell.js";
import { html, useEffect, useState } from "./dom.js";
import { Dialogs } from "./dialog.js";
import { connect, disconnect } from "./live.js";
import { Menu } from "./menu.js";
import { Failure, Skeleton } from "./parts/standing.js";
import { identify, me } from "./session.js";
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
    if (!error) return undefined;
    const timer = setTimeout(begin, AGAIN);
    return () => clearTimeout(timer);
  }, [error]);
  useEffect(() => {
    if (!who) return undefined;
    connect();
    return disconnect;
  }, [Boolean(who)]);

  if (who === null) return html`<${Login} /><${Toasts} />`;
  return html`<a class="skip" href="ui" onClick=${skip}>Skip to the content</a>
    <div class="shell">
      <${Menu} />
      <main id="main" tabindex="-1">
        ${who ? html`<${View} />` : error ? html`<${Failure} error=${error} retry=${begin} />` : html`<${Skeleton} />`}
      </main>
    </div>
    <${Toasts} /><${Dialogs} />`;
}

/** A link by fragment would leave the view: every address is relative to the base. */
function skip(event) {
  event.preventDefault();
  document.getElementById("main").focus();
}
