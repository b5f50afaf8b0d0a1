"""A store as it may look on a working day, for pictures of the dashboard."""

import asyncio
import linecache
import logging
import math
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from windlass import Context, Limit, Windlass, chain, group
from windlass.config import HistorySettings, WorkerSettings
from windlass.core.clock import system_clock
from windlass.core.model import Progress
from windlass.core.states import State
from windlass.core.stats import Tally
from windlass.core.workers import WorkerInfo
from windlass.stores.contract import Store
from windlass.testing.work import work

log = logging.getLogger("shop")
log.setLevel(logging.INFO)

MINUTE = 60_000
HOUR = 60 * MINUTE
CREW = (("app-1", 412), ("app-1", 413), ("app-2", 398), ("batch-1", 77))
SERVED = (("mail", "images"), ("mail", "images"), ("*",), ("reports", "charts"))


def hide(function: Any, name: str) -> None:
    """Let tracebacks name another file, so that pictures are the same wherever they are made."""
    function.__code__ = function.__code__.replace(co_filename=name)
    lines = Path(__file__).read_text("utf-8").splitlines(keepends=True)
    linecache.cache[name] = (0, None, lines, name)


class Scene:
    """The store, its app, and a clock that can be set back."""

    def __init__(self, folder: Path) -> None:
        self._back = 0
        self._random = random.Random(7)
        history = HistorySettings(url=f"sqlite:///{folder}/history.db", interval=0.05)
        url = f"sqlite:///{folder}/jobs.db"
        self.app = Windlass(url, clock=self._now, history=history)
        self._tasks()

    def _now(self) -> int:
        return system_clock() - self._back

    @contextmanager
    def earlier(self, ms: int) -> Iterator[None]:
        """A block in which it is so much earlier."""
        self._back = ms
        yield
        self._back = 0

    def _tasks(self) -> None:
        app, pause = self.app, self._random.random

        @app.task(queue="mail", max_retries=0)
        async def send_receipt(order: int, address: str) -> str:
            log.info("rendering the receipt of order %d", order)
            await asyncio.sleep(pause() / 50)
            if order % 9 == 0:
                log.warning("%s has not answered yet, waiting", "smtp.example.org")
                raise ConnectionError(f"smtp.example.org refused the receipt of order {order}")
            return f"receipt {order} to {address}"

        hide(send_receipt.__wrapped__, "/srv/shop/receipts.py")

        @app.task(queue="images", context=True, max_retries=0)
        async def resize(context: Context, path: str, width: int = 1200) -> dict[str, Any]:
            await asyncio.sleep(pause() / 20)
            if path.endswith("7.tiff"):
                raise ValueError(f"cannot identify image file {path!r}")
            return {"path": path, "width": width}

        @app.task(queue="search", limit=Limit(rate="40/s", concurrency=4, name="search"))
        async def index_product(sku: str) -> None: ...

        @app.task(queue="billing", max_retries=0)
        async def charge(customer: str, cents: int) -> str:
            if cents % 13 == 0:
                raise TimeoutError(f"the bank did not answer within 30 s for {customer}")
            return "paid"

        @app.task(queue="billing", context=True)
        async def refund(context: Context, order: int) -> str:
            return str(await context.await_for("approved", timeout=86_400))

        @app.task(queue="reports")
        async def fetch_sales(region: str) -> list[int]:
            await asyncio.sleep(pause() / 10)
            return [3, 4]

        @app.task(queue="reports")
        async def add_up(sales: list[list[int]]) -> int:
            await asyncio.sleep(0.05)
            return sum(map(sum, sales))

        @app.task(queue="charts")
        async def draw_chart(total: int) -> str:
            return "chart.svg"

        @app.task(queue="reports")
        async def publish(parts: Any) -> str:
            return "published"

        @app.cron("*/5 * * * *")
        async def sweep_carts() -> None: ...

        @app.cron("0 6 * * mon-fri", timezone="Europe/Berlin")
        async def daily_report() -> None: ...

        @app.cron("30 2 1 * *", timezone="America/New_York")
        async def close_books() -> None: ...

    async def make(self) -> dict[str, str]:
        """Fill the store; ids of what pictures are made of."""
        store = await self.app.client.store()
        await self._count(store)
        for minutes in (150, 95, 40, 12, 3):
            with self.earlier(minutes * MINUTE):
                await self._past(minutes)
        ids = await self._present(store)
        await self._crew(store)
        return ids

    async def _count(self, store: Store) -> None:
        """What was done in the last day, by the tallies of a worker."""
        moments = [*range(24 * HOUR, HOUR, -10 * MINUTE), *range(HOUR, -5 * MINUTE, -10_000)]
        for number, ms in enumerate(moments, 1):
            share = 60 if ms > HOUR else 1
            with self.earlier(ms):
                await store.tally("counted", number, self._tallies(ms, share))

    def _tallies(self, ms: int, share: int) -> list[Tally]:
        found = []
        for queue, often in (("mail", 40), ("images", 14), ("search", 60), ("billing", 6)):
            wave = 1 + 0.5 * math.sin(ms / HOUR * 2 + often) + self._random.random() * 0.4
            done, trouble = round(often * wave * share), 14 * MINUTE < ms < 22 * MINUTE
            failed = round(done * (0.35 if trouble and queue == "mail" else 0.006))
            counts = {"completed": done - failed, "failed": failed}
            counts |= {"run:4": done // 2, "run:6": done // 3, "run:8": done // 9}
            counts |= {"wait:1": done // 2, "wait:3": done // 3, "wait:6": done // 12}
            found.append(Tally(queue, {name: each for name, each in counts.items() if each}))
        return found

    async def _past(self, seed: int) -> None:
        tasks, number = self.app.tasks, self._random.randrange
        for _ in range(24):
            order = number(10_000, 99_999)
            await tasks["send_receipt"].aenqueue(order, f"customer{order}@example.org")
        for _ in range(9):
            name = f"/photos/{number(1000, 9999)}.{'tiff' if number(2) else 'jpg'}"
            await tasks["resize"].aenqueue(name)
        for _ in range(8):
            await tasks["charge"].aenqueue(f"customer {number(100, 999)}", number(500, 9_000))
        await work(self.app, WorkerSettings(queues=("*",)), timeout=60.0)

    async def _present(self, store: Store) -> dict[str, str]:
        tasks, number = self.app.tasks, self._random.randrange
        failed = (
            await tasks["send_receipt"]
            .using(labels={"tenant": "acme"})
            .aenqueue(30_015, "ada@example.org")
        )
        await tasks["refund"].aenqueue(58_123)
        await work(self.app, WorkerSettings(queues=("*",)))
        regions = ("north", "south", "east", "west")
        sales = group(*[tasks["fetch_sales"].step(region) for region in regions])
        total = chain(sales, tasks["add_up"].step())
        parts = group(chain(total, tasks["draw_chart"].step()), tasks["fetch_sales"].step("online"))
        flow = await self.app.aenqueue_workflow(chain(parts, tasks["publish"].step()))
        await self._begin(store)
        running = await tasks["resize"].using(priority="high").aenqueue("/photos/banner.png", 3840)
        for _ in range(6):
            await tasks["resize"].aenqueue(f"/photos/{number(1000, 9999)}.png")
        with self.earlier(4 * MINUTE):
            for _ in range(140):
                await tasks["index_product"].aenqueue(f"SKU-{number(10_000, 99_999)}")
        later = tasks["send_receipt"].using(delay=5_400, labels={"tenant": "acme"})
        for order in range(40_000, 40_026):
            await later.aenqueue(order, f"customer{order}@example.org")
        await store.pause("search")
        return {"failed": failed.id, "flow": flow.id, "running": running.id}

    async def _begin(self, store: Store) -> None:
        """Run the workflow up to the step in another queue, which waits there."""
        worker = await self.app.worker(WorkerSettings(queues=("reports",)))
        await worker.start()
        async with asyncio.timeout(60):
            while not await self._has_begun(store):
                await asyncio.sleep(0.05)
        await worker.stop()

    async def _has_begun(self, store: Store) -> bool:
        waiting = {queue.name for queue in await store.queues() if State.PENDING in queue.counts}
        return "charts" in waiting and "reports" not in waiting

    async def stay(self) -> None:
        """Let the workers be heard of."""
        store = await self.app.client.store()
        for info in await store.workers():
            await store.beat(info, HOUR)

    async def _crew(self, store: Store) -> None:
        for (host, pid), queues in zip(CREW, SERVED, strict=True):
            id = f"{host}:{pid}"
            wanted = {"images": 2} if "images" in queues else {"charts": 1}
            jobs = await store.claim(wanted, 2, HOUR, id)
            progress = Progress(35 + 20 * (pid % 3), "writing the tiles")
            await store.report([(job.lease, progress) for job in jobs])
            info = WorkerInfo(
                id, host, pid, queues, 20, self._now() - 26 * HOUR, len(jobs), 0, 148 * 10**6 + pid
            )
            await store.beat(info, HOUR)
