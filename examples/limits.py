"""Limits that hold for all workers: at most two at a time for each customer, and strict order.

python limits.py
"""

import asyncio

from windlass import Limit, Windlass

app = Windlass("memory://")
running: dict[str, int] = {}
most: dict[str, int] = {}
events: list[str] = []


@app.task(limit=Limit(concurrency=2, key=lambda customer: customer))
async def report(customer: str) -> None:
    running[customer] = running.get(customer, 0) + 1
    most[customer] = max(most.get(customer, 0), running[customer])
    await asyncio.sleep(0.01)
    running[customer] -= 1


@app.task(sequence="order:7")
async def apply(event: str) -> None:
    events.append(event)


async def main() -> None:
    worker = await app.worker()
    await worker.start()
    calls = [report.call(customer) for customer in ("Ada", "Bob") for _ in range(10)]
    calls += [apply.call(event) for event in ("paid", "packed", "sent")]
    for job in await app.aenqueue_many(calls):
        await job.aresult(timeout=10)
    print("at a time:", most)
    print("in order:", *events)
    await worker.stop()
    await app.aclose()


asyncio.run(main())
