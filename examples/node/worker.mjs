// A worker in Node for jobs in JSON. Start a server, then: npm install && node worker.mjs
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import grpc from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { Fatal, tasks } from "./tasks.mjs";

const env = process.env, queues = (env.QUEUES ?? "default").split(",");
const concurrency = Number(env.CONCURRENCY ?? 10), leaseMs = Number(env.LEASE_MS ?? 30000);
const proto = new URL("../../src/windlass/server/grpc/windlass.proto", import.meta.url);
const definition = loadSync(env.WINDLASS_PROTO ?? fileURLToPath(proto), { longs: String });
const { Work } = grpc.loadPackageDefinition(definition).windlass.v1;
const options = { "grpc.keepalive_time_ms": 20000 }; // a server that is gone is noticed
const address = env.WINDLASS_GRPC ?? "127.0.0.1:9090";
const server = new Work(address, grpc.credentials.createInsecure(), options);
const metadata = new grpc.Metadata();
if (env.WINDLASS_KEY) metadata.set("x-api-key", env.WINDLASS_KEY);

const worker = `${hostname()}:${process.pid}:${Math.random().toString(36).slice(2)}`;
const startedMs = Date.now(), running = new Map();
let stopping = false, fetching;

function call(method, request, ms = 10000) {
  return new Promise((resolve, reject) => {
    const done = (error, answer) => (error ? reject(error) : resolve(answer));
    const sent = server[method](request, metadata, { deadline: Date.now() + ms }, done);
    if (method === "Fetch") fetching = sent;
  });
}

async function tell(method, request) { // what a job came to, until the server has it
  const passing = [grpc.status.UNAVAILABLE, grpc.status.DEADLINE_EXCEEDED];
  for (let wait = 100; ; wait = Math.min(2 * wait, 5000)) {
    const error = await call(method, request).then(() => null, (error) => error);
    if (!error) return;
    if (!passing.includes(error.code)) return console.error(error.details);
    await sleep(wait);
  }
}

async function attempt({ lease, task, contentType, payload }, signal) {
  const known = Object.hasOwn(tasks, task) && contentType === "json";
  if (!known) return ["Release", { leases: [lease], unknownTask: true }];
  try {
    const [, args, kwargs] = JSON.parse(payload);
    const value = await tasks[task](...args, { ...kwargs, signal });
    return ["Ack", { jobs: [{ lease, result: Buffer.from(JSON.stringify([1, value ?? null])) }] }];
  } catch (error) {
    const { name: kind, message, stack: traceback } = error, fatal = error instanceof Fatal;
    return ["Nack", { jobs: [{ lease, kind, message, traceback, fatal }] }];
  }
}

async function run(job) {
  const stop = new AbortController(), hand = { lease: job.lease, stop, lost: false };
  const timer = job.timeoutMs && setTimeout(() => stop.abort(), Number(job.timeoutMs));
  running.set(hand.lease, hand);
  const ending = await attempt(job, stop.signal);
  clearTimeout(timer);
  if (!hand.lost) await tell(...ending);
  running.delete(hand.lease);
}

function lose(hand) {
  hand.lost = true;
  hand.stop.abort();
}

async function extend() { // a job that is missing from the answer was lost or cancelled
  const held = [...running.values()];
  const { ids = [] } = await call("Extend", { leases: held.map(({ lease }) => lease), leaseMs });
  held.filter(({ lease }) => !ids.includes(lease.id)).forEach(lose);
}

const about = { worker, host: hostname(), pid: process.pid, queues, concurrency, startedMs };
const register = () => call("Register", { ...about, active: running.size });
const grumble = (error) => console.error(error.details);
const every = (ms, act) => setInterval(() => act().catch(grumble), ms);
const timers = [every((await register()).beatMs, register), every(leaseMs / 3, extend)];
const stop = () => { stopping = true; fetching?.cancel(); };
process.once("SIGTERM", stop).once("SIGINT", stop);
console.log(`working as ${worker}`);

while (!stopping) {
  const limit = concurrency - running.size, shares = queues.map((queue) => ({ queue }));
  const order = { worker, queues: shares, limit, leaseMs, waitMs: 20000 };
  try {
    if (limit < 1) await sleep(20);
    else for (const job of (await call("Fetch", order, 30000)).jobs ?? []) run(job);
  } catch (error) {
    if (!stopping) await sleep(1000, grumble(error));
  }
}

for (let ms = env.SHUTDOWN_MS ?? 5000; running.size && ms > 0; ms -= 50) await sleep(50);
const late = [...running.values()];
late.forEach(lose);
await tell("Release", { leases: late.map(({ lease }) => lease) });
timers.forEach(clearInterval);
await call("Leave", { worker });
server.close();
