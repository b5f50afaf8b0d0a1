"""A worker whose app has a schedule that ticks every second, until SIGTERM.

ticking.py URL    prints "ready" when it works
"""

import asyncio
import logging
import sys

from windlass import Windlass
from windlass.config import WorkerSettings
from windlass.scheduler import leader

# So that a leader that was killed is replaced soon, and yet not before it has missed a tick.
vars(leader)["TERM"] = 2.5


def make(url: str) -> Windlass:
    app = Windlass(url)

    @app.cron("* * * * * *")
    async def pulse() -> None: ...

    return app


async def main(url: str) -> None:
    app = make(url)
    worker = await app.worker(WorkerSettings(lease=5.0, rescue_interval=0.1))
    print("ready", flush=True)  # noqa: T201
    await worker.run()
    await app.aclose()


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    asyncio.run(main(sys.argv[1]))
