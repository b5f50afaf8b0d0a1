/** Numbers, durations and moments as people read them. */
const number = new Intl.NumberFormat("en");
const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium", hourCycle: "h23" });
const time = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const seconds = new Intl.DateTimeFormat(undefined, { timeStyle: "medium", hourCycle: "h23" });
const exact = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  fractionalSecondDigits: 3,
  hourCycle: "h23",
});

export const count = (value) => number.format(value ?? 0);

/** A number in at most five characters. */
export const compact = (value) => (value < 10_000 ? count(value) : short.format(value));

/** "1 job", "1,234 jobs". */
export const jobs = (value) => `${count(value)} ${value === 1 ? "job" : "jobs"}`;

const UNITS = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "min"],
  [1, "s"],
];

/** Seconds as "2 h 5 min", "1.2 s", "35 ms"; the two largest units. */
export function duration(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds < 0) return `−${duration(-seconds)}`;
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 10) return `${Number(seconds.toFixed(1))} s`;
  const rounded = Math.round(seconds);
  const first = UNITS.findIndex(([size]) => rounded >= size);
  const parts = [];
  let left = rounded;
  for (const [size, name] of UNITS.slice(first, first + 2)) {
    const many = Math.floor(left / size);
    left -= many * size;
    if (many) parts.push(`${many} ${name}`);
  }
  return parts.join(" ");
}

/** How far a moment is from now: "3 min ago", "in 2 h". */
export function relative(iso, now) {
  const seconds = (now - Date.parse(iso)) / 1000;
  const size = coarse(Math.abs(seconds));
  if (!size) return "now";
  return seconds > 0 ? `${size} ago` : `in ${size}`;
}

function coarse(seconds) {
  if (seconds < 1) return "";
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return duration(Math.floor(seconds / 60) * 60);
  return `${Math.floor(seconds / 86_400)} d`;
}

/** A moment to the second; its day only if that is not today's. */
export function exactMoment(value, now) {
  const at = new Date(value);
  return at.toDateString() === new Date(now).toDateString() ? seconds.format(at) : moment.format(at);
}

export const fullMoment = (value) => moment.format(new Date(value));
export const timeOfDay = (value) => time.format(new Date(value));
export const exactTime = (value) => exact.format(new Date(value));

/** Seconds from one moment to another, or null if one is missing. */
export function between(from, until) {
  return from && until ? Math.max((Date.parse(until) - Date.parse(from)) / 1000, 0) : null;
}

/** Bytes as "1.2 MB". */
export function size(bytes) {
  if (!bytes) return "–";
  const power = Math.min(Math.floor(Math.log10(bytes) / 3), 4);
  return `${Number((bytes / 1000 ** power).toFixed(power ? 1 : 0))} ${["B", "kB", "MB", "GB", "TB"][power]}`;
}

const ONE_LINE = 72;

/** A value as JSON, over several lines if it is long. */
export function pretty(value) {
  const text = JSON.stringify(value) ?? "";
  return text.length > ONE_LINE ? JSON.stringify(value, null, 2) : text;
}
