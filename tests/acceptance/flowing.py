"""A worker for the steps of a workflow, until it is killed.

flowing.py URL    prints "ready" when it works
"""

import asyncio
import logging
import sys

from windlass import Context, Windlass
from windlass.config import WorkerSettings
from windlass.scheduler import leader

# So that a leader that was killed is replaced soon.
vars(leader)["TERM"] = 0.5


def make(url: str) -> Windlass:
    app = Windlass(url)

    @app.task(context=True, max_retries=50, backoff=0)
    async def visit(ctx: Context, depth: int) -> int:
        if depth:
            await ctx.workflow.aadd(app.tasks["visit"].step(depth - 1))
        await asyncio.sleep(0.05)
        return 1

    @app.task(max_retries=50, backoff=0)
    async def total(numbers: list[int]) -> int:
        return sum(numbers)

    @app.task
    async def told(result: int) -> int:
        return result

    return app


async def main(url: str) -> None:
    app = make(url)
    worker = await app.worker(WorkerSettings(concurrency=4, lease=1.0, rescue_interval=0.1))
    print("ready", flush=True)  # noqa: T201
    await worker.run()
    await app.aclose()


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    asyncio.run(main(sys.argv[1]))
