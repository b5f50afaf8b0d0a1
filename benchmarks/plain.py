"""What a plain job costs the store: `python -m benchmarks.plain NUMBER` prints jobs per second.

A program of its own, that uses nothing which is new: so it runs on the code of today and on that of
an earlier day.
"""

from __future__ import annotations

import asyncio
import sys
import time
from tempfile import TemporaryDirectory

from windlass.core.model import NewJob, Spec, Transition
from windlass.core.states import State
from windlass.stores.open import open_store

BATCH = 100
SPEC = Spec("nothing", b"x" * 60)


async def lifecycles(number: int) -> float:
    """Jobs per second through insert, claim and finish, a hundred at a time."""
    with TemporaryDirectory() as folder:
        store = open_store(f"sqlite:///{folder}/bench.db")
        await store.open()
        began = time.perf_counter()
        for start in range(0, number, BATCH):
            names = range(start, start + BATCH)
            await store.insert([NewJob(f"job-{n}", SPEC, fresh=True) for n in names])
        while jobs := await store.claim({"default": BATCH}, BATCH, 30_000, "worker"):
            await store.finish(
                [
                    Transition(job.id, job.fence, State.COMPLETED, queue=job.queue, ref=job.ref)
                    for job in jobs
                ]
            )
        rate = number / (time.perf_counter() - began)
        await store.close()
        return rate


if __name__ == "__main__":
    print(asyncio.run(lifecycles(int(sys.argv[1]))))
