"""A chord: some pages are fetched at the same time, then what they have is added up.

python workflow.py
"""

import asyncio

from windlass import Windlass, chord, group

app = Windlass("memory://")


@app.task
async def words(page: str) -> int:
    return len(page.split())


@app.task
def total(counts: list[int]) -> int:
    return sum(counts)


async def main() -> None:
    worker = await app.worker()
    await worker.start()
    pages = ["to be or not to be", "that is the question"]
    flow = chord(group(*(words.step(page) for page in pages)), total.step())
    workflow = await app.aenqueue_workflow(flow)
    print(f"{await workflow.aresult()} words on {len(pages)} pages")
    await worker.stop()
    await app.aclose()


asyncio.run(main())
