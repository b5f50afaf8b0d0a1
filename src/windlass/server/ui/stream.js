/**
 * Server-sent events over `fetch`: unlike `EventSource` it sees refusals, and notices a connection
 * that went silent. It comes back after every end, later and later while nobody answers.
 */
import { Problem, problem, reach, url } from "./api.js";
import { seen } from "./sight.js";

const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 15_000;
const STEADY = 5_000;
/** The server breaks every silence of 15 s. */
const LONGEST_SILENCE = 40_000;

/**
 * Follows events until the function that it returns is called; pauses while the page is hidden.
 * @param {object} query what to follow
 * @param {{hear: (name: string, data: any) => void, tell?: (state: string) => void}} listener
 *   `tell` is told "live", "connecting", "offline" and "paused".
 */
export function follow(query, { hear, tell = () => {} }) {
  let ended = false;
  let stopped = false;
  let attempt = null;
  let failures = 0;
  const say = (state) => stopped || tell(state);

  async function run() {
    if (ended || attempt) return;
    while (!ended && seen.value) {
      const began = Date.now();
      attempt = new AbortController();
      say(failures ? "offline" : "connecting");
      ended ||= await listen(query, attempt, { hear, tell: say }).catch(isFinal);
      failures = Date.now() - began > STEADY ? 1 : failures + 1;
      if (!seen.value) continue;
      say("offline");
      if (!ended) await pause(failures, attempt.signal);
    }
    attempt = null;
    if (!ended) say("paused");
  }

  const stopSight = seen.follow((visible) => {
    if (!visible) attempt?.abort();
    else {
      failures = 0;
      void run();
    }
  });
  const hurry = () => attempt?.abort();
  addEventListener("online", hurry);
  void run();
  return () => {
    ended = stopped = true;
    stopSight();
    removeEventListener("online", hurry);
    attempt?.abort();
  };
}

/** Whether an error is the end: a refusal stays one until something else is asked. */
const isFinal = (error) => error instanceof Problem && !error.passes;

function pause(failures, signal) {
  const longest = Math.min(FIRST_PAUSE * 2 ** (failures - 1), LONGEST_PAUSE);
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(resolve, longest * (0.5 + Math.random() / 2));
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** One connection; returns true if the server said that there is no more to come. */
async function listen(query, attempt, { hear, tell }) {
  let silence = 0;
  const awake = () => {
    clearTimeout(silence);
    silence = setTimeout(() => attempt.abort(), LONGEST_SILENCE);
  };
  awake();
  try {
    const answer = await reach(url("events", query), { signal: attempt.signal });
    if (!answer.ok) throw await problem(answer);
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return false;
      awake();
      tell("live");
      const parts = (text + value).split("\n\n");
      text = parts.pop();
      for (const part of parts) {
        const event = parse(part);
        if (event?.name === "end") return true;
        if (event) hear(event.name, event.data);
      }
    }
  } finally {
    clearTimeout(silence);
  }
}

function parse(part) {
  let name = "message";
  let data = "";
  for (const line of part.split("\n")) {
    if (line.startsWith("event: ")) name = line.slice(7);
    else if (line.startsWith("data: ")) data += line.slice(6);
  }
  return data ? { name, data: JSON.parse(data) } : null;
}
