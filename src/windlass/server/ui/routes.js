/** Every view, by its address below the base. Each is loaded when it is first shown. */
import { match } from "./router.js";

const ROUTES = [
  ["", () => import("./views/overview.js")],
  ["ui", () => import("./views/overview.js")],
  ["ui/queues", () => import("./views/queues.js")],
  ["ui/queues/:name", () => import("./views/queue.js")],
  ["ui/jobs", () => import("./views/jobs.js")],
  ["ui/jobs/:id", () => import("./views/job.js")],
  ["ui/dead", () => import("./views/dead.js")],
  ["ui/workflows", () => import("./views/workflows.js")],
  ["ui/workflows/:id", () => import("./views/workflow.js")],
  ["ui/cron", () => import("./views/cron.js")],
  ["ui/workers", () => import("./views/workers.js")],
  ["ui/history", () => import("./views/history.js")],
  ["ui/history/:id", () => import("./views/past.js")],
  ["ui/enqueue", () => import("./views/enqueue.js")],
];

/** The pattern of a path, how its view is loaded, and the values in it; null for no view. */
export function routeOf(path) {
  for (const [pattern, load] of ROUTES) {
    const values = match(pattern, path);
    if (values) return { pattern, load, values };
  }
  return null;
}
