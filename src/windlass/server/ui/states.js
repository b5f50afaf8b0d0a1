/** The states of a job, and what can be done in which; a test holds it against core/states.py. */
export const STATES = [
  "active",
  "pending",
  "scheduled",
  "retry",
  "blocked",
  "completed",
  "dead",
  "cancelled",
];

/** What each says of a job. */
export const MEANING = {
  active: "a worker runs it",
  pending: "waits for a worker",
  scheduled: "waits for its time",
  retry: "failed; waits for its next attempt",
  blocked: "waits for other jobs, or for its turn",
  completed: "done",
  dead: "failed for good; stays until someone replays or deletes it",
  cancelled: "called off",
};

export const FINISHED = ["completed", "dead", "cancelled"];
const WAITING = ["blocked", "pending", "scheduled", "retry"];

/** In which states a job allows an action. */
const ALLOWS = {
  cancel: [...WAITING, "active"],
  replay: ["dead", "cancelled"],
  delete: [...WAITING, ...FINISHED],
  reschedule: ["pending", "scheduled", "retry"],
  priority: WAITING,
};

export const allows = (action, state) => ALLOWS[action].includes(state);
