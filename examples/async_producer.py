"""Many jobs from async code, stored in one step and awaited together.

python async_producer.py
"""

import asyncio

from windlass import Windlass

app = Windlass("memory://")


@app.task(timeout=5)
async def fetch(number: int) -> str:
    await asyncio.sleep(0.01)  # where a real task would wait for a server
    return f"page {number}: " + "x" * (67 - len(f"page {number}: "))


async def main() -> None:
    worker = await app.worker()
    await worker.start()
    jobs = await app.aenqueue_many(fetch.call(number) for number in range(20))
    pages = await asyncio.gather(*(job.aresult(timeout=10) for job in jobs))
    print(f"{len(pages)} pages, {sum(map(len, pages))} characters")
    await worker.stop()
    await app.aclose()


asyncio.run(main())
