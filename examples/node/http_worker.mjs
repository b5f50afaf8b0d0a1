// A worker in Node over plain HTTP, without packages. Start a server, then: node http_worker.mjs
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { Fatal, tasks } from "./tasks.mjs";

const env = process.env, queues = (env.QUEUES ?? "default").split(",");
const concurrency = Number(env.CONCURRENCY ?? 10), lease = Number(env.LEASE ?? 30);
const server = env.WINDLASS_SERVER ?? "http://127.0.0.1:8080";
const headers = { "content-type": "application/json" };
if (env.WINDLASS_KEY) headers["x-api-key"] = env.WINDLASS_KEY;

const worker = `${hostname()}:${process.pid}:${Math.random().toString(36).slice(2)}`;
const running = new Set();
let stopping = false, fetching;

async function call(word, body, seconds = 10, query = "") {
  const stop = new AbortController(), timer = setTimeout(() => stop.abort(), seconds * 1000);
  if (word === "fetch") fetching = stop;
  const request = { method: "POST", headers, body: JSON.stringify(body), signal: stop.signal };
  try {
    const answer = await fetch(`${server}/api/v1/work/${word}${query}`, request);
    const said = answer.status === 204 ? {} : await answer.json();
    if (!answer.ok) throw Object.assign(new Error(said.detail), { status: answer.status });
    return said;
  } finally {
    clearTimeout(timer);
  }
}

async function tell(word, body) { // what a job came to, until the server has it
  for (let wait = 100; ; wait = Math.min(2 * wait, 5000)) {
    const error = await call(word, body).then(() => null, (error) => error);
    if (!error || error.status === 409) return; // 409: it belongs to another worker by now
    if (error.status < 500) return grumble(error);
    await sleep(wait);
  }
}

async function attempt({ id, fence, task, args, kwargs }, signal) {
  const known = Object.hasOwn(tasks, task) && args !== undefined;
  if (!known) return ["release", { jobs: [{ id, fence }], unknown_task: true }];
  try {
    const result = (await tasks[task](...args, { ...kwargs, signal })) ?? null;
    return ["ack", { jobs: [{ id, fence, result }] }];
  } catch (error) {
    const { name: kind, message, stack: traceback } = error, fatal = error instanceof Fatal;
    return ["nack", { jobs: [{ id, fence, kind, message, traceback, fatal }] }];
  }
}

async function run(job) {
  const stop = new AbortController(), hand = { id: job.id, fence: job.fence, stop, lost: false };
  const timer = job.timeout && setTimeout(() => stop.abort(), job.timeout * 1000);
  running.add(hand);
  const ending = await attempt(job, stop.signal);
  clearTimeout(timer);
  if (!hand.lost) await tell(...ending);
  running.delete(hand);
}

function lose(hand) {
  hand.lost = true;
  hand.stop.abort();
}

async function extend() { // a job that is lost or cancelled is stopped
  const held = [...running];
  if (!held.length) return;
  const jobs = held.map(({ id, fence }) => ({ id, fence }));
  const { ids } = await call("extend", { jobs, lease }).catch((error) => {
    if (error.status !== 409) throw error;
    return { ids: [] };
  });
  held.filter(({ id }) => !ids.includes(id)).forEach(lose);
}

const about = { worker, host: hostname(), pid: process.pid, queues, concurrency };
about.started_at = new Date().toISOString();
const register = () => call("register", { ...about, active: running.size });
const grumble = (error) => console.error(error.message);
const every = (seconds, act) => setInterval(() => act().catch(grumble), seconds * 1000);
const timers = [every((await register()).beat, register), every(lease / 3, extend)];
const stop = () => { stopping = true; fetching?.abort(); };
process.once("SIGTERM", stop).once("SIGINT", stop);
console.log(`working as ${worker}`);

while (!stopping) {
  const limit = concurrency - running.size, order = { worker, queues, limit, lease };
  try {
    if (limit < 1) await sleep(20);
    else for (const job of (await call("fetch", order, 30, "?wait=20")).jobs) run(job);
  } catch (error) {
    if (!stopping) await sleep(1000, grumble(error));
  }
}

for (let ms = env.SHUTDOWN_MS ?? 5000; running.size && ms > 0; ms -= 50) await sleep(50);
const late = [...running];
late.forEach(lose);
if (late.length) await tell("release", { jobs: late.map(({ id, fence }) => ({ id, fence })) });
timers.forEach(clearInterval);
await call("leave", { worker });
