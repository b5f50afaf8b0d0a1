/** The view that the address names, loaded when it is first shown. */
import { useCell } from "./cell.js";
import { html, useEffect, useErrorBoundary, useRef, useState } from "./dom.js";
import { place } from "./router.js";
import { routeOf } from "./routes.js";
import { Empty, Failure, Skeleton } from "./parts/standing.js";

export function View() {
  const { path } = useCell(place);
  const route = routeOf(path);
  if (!route)
    return html`<h1>Nothing here</h1>
      <${Empty} title="There is no such page."><a href="">Go to the overview</a><//>`;
  return html`<${Loading} key=${path} route=${route} />`;
}

function Loading({ route }) {
  const [found, setFound] = useState({});
  const load = () =>
    route.load().then(
      (module) => setFound({ Content: module.default }),
      () => setFound({ error: new Error("Its code could not be fetched; reload the page.") }),
    );
  useEffect(() => void load(), []);
  if (found.error) return html`<${Failure} error=${found.error} retry=${() => location.reload()} />`;
  return found.Content ? html`<${Guarded} Content=${found.Content} values=${route.values} />` : html`<${Skeleton} />`;
}

let moved = false;
place.follow(() => (moved = true));

/** A mistake in one view leaves the rest usable. */
function Guarded({ Content, values }) {
  const [error, reset] = useErrorBoundary((thrown) => console.error(thrown));
  const section = useRef(null);
  useEffect(() => {
    // Readers of the screen are to hear where they came to; the first page they hear by itself.
    if (moved) section.current?.querySelector("h1")?.focus({ preventScroll: true });
  }, []);
  if (error) return html`<${Failure} error=${error} retry=${reset} />`;
  return html`<div class="view" ref=${section}><${Content} ...${values} /></div>`;
}
