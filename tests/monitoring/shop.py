"""The app of the plant: jobs that do well, fail, wait and hang. Its store is in WINDLASS_URL."""

import asyncio

from windlass import Limit, Windlass

app = Windlass()


@app.task(queue="mail")
async def send(number: int) -> int:
    await asyncio.sleep(0.01)
    return number


@app.task(queue="mail", max_retries=1, backoff=0.1)
async def pay(number: int) -> None:
    raise ValueError("no money")


@app.task(queue="mail", limit=Limit(concurrency=1))
async def print_one(number: int) -> None:
    await asyncio.sleep(0.5)


@app.task(queue="slow", max_retries=5)
async def hang() -> None:
    await asyncio.sleep(600)


@app.task(queue="nobody")
async def forgotten() -> None: ...


@app.cron("* * * * * *", queue="mail", missed="all")
async def often() -> None: ...


@app.cron("* * * * * *", queue="mail", missed="last")
async def seldom() -> None: ...
