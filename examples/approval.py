"""A job that waits for a person, without holding a slot of the worker.

python approval.py
"""

import asyncio

from windlass import Context, SignalTimeout, State, Windlass

app = Windlass("memory://")


@app.task(context=True)
async def refund(context: Context, euros: int) -> str:
    try:
        answer = await context.await_for("answer", timeout=3600)
    except SignalTimeout:
        return "nobody answered"
    return f"{euros} euros: {answer['text']}, says {answer['by']}"


async def main() -> None:
    worker = await app.worker()
    await worker.start()
    job = await refund.aenqueue(500)
    while (await job.aget()).state is not State.SCHEDULED:
        await asyncio.sleep(0.01)
    print("parked for", (await job.aget()).awaits)
    await job.asignal("answer", {"by": "Ada", "text": "yes"})
    print(await job.aresult(timeout=10))
    await worker.stop()
    await app.aclose()


asyncio.run(main())
