/** The beginning: who looks, then the shell around the view that the address names. */
import { html, render } from "./dom.js";
import { startKeys } from "./keys.js";
import { start } from "./router.js";
import { Shell } from "./shell.js";

start();
startKeys();
const root = document.getElementById("app");
root.replaceChildren();
render(html`<${Shell} />`, root);
