/** Navigation and what is always in sight: the numbers that matter, the connection, who looks. */
import { useCell } from "./cell.js";
import { classes, html, useEffect, useState } from "./dom.js";
import { compact } from "./format.js";
import { help } from "./keys.js";
import { link, queues, totals, workers } from "./live.js";
import { place } from "./router.js";
import { leave, may, me } from "./session.js";
import { nextTheme, theme } from "./theme.js";
import { complain } from "./toast.js";

export function Menu() {
  const { path } = useCell(place);
  const [open, setOpen] = useState(false);
  useEffect(() => setOpen(false), [path]);
  return html`<header class="bar">
    <a class="skip" href="ui" onClick=${skip}>Skip to the content</a>
    <a class="brand" href="" aria-label="Windlass, overview">
      <img src="assets/favicon.svg" alt="" width="26" height="26" /> <span>Windlass</span>
    </a>
    <${Link} />
    <button class="burger" aria-expanded=${open} aria-controls="menu" onClick=${() => setOpen(!open)}>Menu</button>
    <div id="menu" class=${classes("menu", open && "open")}>
      <${Places} path=${path} />
      <${Foot} />
    </div>
  </header>`;
}

/** A link by fragment would leave the view: every address is relative to the base. */
function skip(event) {
  event.preventDefault();
  document.getElementById("main").focus();
}

function Places({ path }) {
  const [all, crew] = [totals(useCell(queues)), useCell(workers)];
  const places = [
    ["", "Overview"],
    ["ui/queues", "Queues"],
    ["ui/jobs", "Jobs", all.active, "active"],
    ["ui/dead", "Dead", all.dead, "dead"],
    ["ui/workflows", "Workflows"],
    ["ui/cron", "Cron"],
    ["ui/workers", "Workers", crew?.length],
    ["ui/history", "History"],
  ];
  const isHere = (href) => (href ? path === href || path.startsWith(`${href}/`) : path === "" || path === "ui");
  return html`<nav aria-label="Views">
    <ul>
      ${places.map(
        ([href, name, number, kind]) => html`<li>
          <a href=${href} aria-current=${isHere(href) ? "page" : undefined}>
            <span>${name}</span>
            ${number > 0 && html`<span class=${classes("tally", kind && `tally-${kind}`)}>${compact(number)}</span>`}
          </a>
        </li>`,
      )}
    </ul>
    ${may("enqueue") && html`<a class="button enqueue" href="ui/enqueue">Enqueue a job</a>`}
  </nav>`;
}

const LINKS = {
  live: ["Live", "What you see is up to date."],
  connecting: ["Connecting", "The connection is being made."],
  offline: ["Offline", "The server does not answer; trying again."],
  paused: ["Paused", "Nothing is asked for while nobody looks."],
};

function Link() {
  const state = useCell(link);
  const [name, text] = LINKS[state];
  return html`<p class=${`link link-${state}`} role="status" title=${text}><span class="dot"></span>${name}</p>`;
}

const THEMES = { "": "As the system", light: "Light", dark: "Dark" };

function Foot() {
  const [chosen, who] = [useCell(theme), useCell(me)];
  return html`<div class="foot">
    ${who?.name && html`<p class="who" title=${`May ${who.roles.join(", ")}`}>${who.name} <span>${summary(who)}</span></p>`}
    <div>
      <button class="plain" onClick=${nextTheme}>${THEMES[chosen]}</button>
      <button class="plain" onClick=${help}>Keys <kbd>?</kbd></button>
      ${who?.logged_in && html`<button class="plain" onClick=${() => leave().catch(complain)}>Log out</button>`}
    </div>
  </div>`;
}

function summary({ roles, queues: bound }) {
  const role = ["admin", "operate", "read"].find((each) => roles.includes(each)) ?? roles.join(", ");
  return bound?.length ? `${role} · ${bound.join(", ")}` : role;
}
