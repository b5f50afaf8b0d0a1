"""One task that succeeds at its third attempt, and one that gives up at once.

python retries.py
"""

import asyncio
from typing import Any

from windlass import Context, Fatal, JobHandle, Windlass

app = Windlass("memory://")


@app.task(context=True, max_retries=5, backoff=[0.01, 0.02, 0.05])
def steady(context: Context) -> str:
    if context.attempt < 3:
        raise ConnectionError("the mail server is away")
    return "sent"


@app.task
def hopeless(account: str) -> None:
    raise Fatal("no such account")


async def report(name: str, job: JobHandle[Any]) -> None:
    while True:
        found = await job.aget()
        if found.finished_at is not None:
            break
        await asyncio.sleep(0.01)
    attempts = f"{found.attempt} attempt{'s' if found.attempt > 1 else ''}"
    error = f": {found.error}" if found.state == "dead" else ""
    print(f"{name}: {found.state} after {attempts}{error}")


async def main() -> None:
    worker = await app.worker()
    await worker.start()
    await report("steady", await steady.aenqueue())
    await report("hopeless", await hopeless.aenqueue("nobody"))
    await worker.stop()
    await app.aclose()


asyncio.run(main())
