"""A server and a worker of the shop, in a thread of their own; the test is in the browser's."""

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.routing import Mount

from tests.app.engines import sqlite_in
from tests.dashboard.shop import Shop
from tests.server.hosting import hosting
from windlass.config import HistorySettings, ServerSettings, WorkerSettings
from windlass.core.apikey import new_key
from windlass.core.states import State
from windlass.core.stats import COARSE, COMPLETED, summed
from windlass.core.step import Part
from windlass.server import Caller, dashboard
from windlass.server.server import Server, make_server
from windlass.stores.contract import Store
from windlass.worker.worker import Worker

T = TypeVar("T")

PATIENCE = 60.0
SETTINGS: dict[str, Any] = {"grpc_port": -1, "access_log": False, "key_refresh": 0.1}
WORKING = WorkerSettings(queues=("*",), concurrency=8)


class House:
    """What a test has besides its page. Methods may be called from any thread."""

    def __init__(
        self, folder: Path, loop: asyncio.AbstractEventLoop, http_port: int = 0, **settings: Any
    ) -> None:
        self._loop = loop
        history = HistorySettings(url=f"sqlite:///{folder}/history.db", interval=0.05)
        self.shop = Shop(sqlite_in(folder), history=history)
        self._settings = SETTINGS | settings
        self._server: Server | None = None
        self._worker: Worker | None = None
        self._besides = AsyncExitStack()
        self._obedience: asyncio.Task[None]
        self.port = http_port

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def do(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Await something where the server runs."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(PATIENCE)

    def enqueue(self, task: str, *args: Any, using: dict[str, Any] | None = None) -> str:
        """The id of a new job."""
        return self.enqueue_many(task, [args], using=using)[0]

    def enqueue_many(
        self, task: str, calls: list[tuple[Any, ...]], using: dict[str, Any] | None = None
    ) -> list[str]:
        async def enqueue() -> list[str]:
            chosen = self.shop.tasks[task].using(**(using or {}))
            return [(await chosen.aenqueue(*args)).id for args in calls]

        return self.do(enqueue())

    def enqueue_workflow(self, flow: Part[Any]) -> str:
        """The id of a new workflow."""

        async def enqueue() -> str:
            return (await self.shop.aenqueue_workflow(flow)).id

        return self.do(enqueue())

    def states(self, *ids: str) -> list[State | None]:
        async def states() -> list[State | None]:
            found = await (await self._store()).get(ids)
            return [found[id].state if id in found else None for id in ids]

        return self.do(states())

    def wait_for(self, state: State, *ids: str) -> None:
        """Wait until all of these jobs are in a state."""

        async def reached() -> None:
            store = await self._store()
            async with asyncio.timeout(PATIENCE):
                while any(job.state is not state for job in (await store.get(ids)).values()):
                    await asyncio.sleep(0.01)

        self.do(reached())

    def wait_for_counts(self, queue: str, completed: int) -> None:
        """Wait until the worker has told that so many jobs of a queue are completed."""

        async def told() -> None:
            store = await self._store()
            async with asyncio.timeout(PATIENCE):
                while True:
                    found = summed(await store.stats([queue], COARSE, 0))
                    if found.get(COMPLETED, 0) >= completed:
                        return
                    await asyncio.sleep(0.05)

        self.do(told())

    def dead(self, *addresses: str) -> list[str]:
        """Jobs that have died, one for each address."""
        ids = self.enqueue_many("post", [(address,) for address in addresses])
        self.wait_for(State.DEAD, *ids)
        return ids

    def add_key(self, *roles: str, **options: Any) -> str:
        async def add() -> str:
            store = await self._store()
            key, text = new_key(roles, now=await store.now(), **options)
            await store.put_keys([key])
            assert self._server is not None
            await self._server.site.keyring.refresh()
            return text

        return self.do(add())

    def pause(self, queue: str) -> None:
        async def pause() -> None:
            await (await self._store()).pause(queue)

        self.do(pause())

    def revoke(self, name: str) -> None:
        """Let the key of this name count no longer."""

        async def revoke() -> None:
            store = await self._store()
            await store.drop_keys([key.id for key in await store.keys() if key.name == name])
            assert self._server is not None
            await self._server.site.keyring.refresh()

        self.do(revoke())

    def wait_for_history(self, number: int) -> None:
        """Wait until the history has so many jobs."""

        async def reached() -> None:
            async with asyncio.timeout(PATIENCE):
                while len((await self.shop.history.afind()).jobs) < number:
                    await asyncio.sleep(0.01)

        self.do(reached())

    def delete(self, id: str) -> None:
        async def delete() -> None:
            await (await self._store()).delete([id])

        self.do(delete())

    def open(self) -> None:
        """Let go on what waits."""
        self._loop.call_soon_threadsafe(self.shop.opened.set)

    def stop_server(self) -> None:
        self.do(self._stop_server())

    def mount(self, at: str) -> str:
        """The URL of a dashboard that is part of another app, which says who looks."""

        async def mount() -> str:
            board = dashboard(self.shop, authorize=lambda request: Caller.of("ada", "operate"))
            app = Starlette(routes=[Mount(at, board)], lifespan=board.lifespan)
            return (await self._besides.enter_async_context(hosting(app))).url + at

        return self.do(mount())

    def serve_bare(self) -> None:
        """Go on as a server that has no app, and takes jobs of any task."""

        async def serve() -> None:
            await self._stop_server()
            await self._start_server(has_tasks=False)

        self.do(serve())

    def start_server(self) -> None:
        """On the port that it had before."""
        self.do(self._start_server())

    def stop_worker(self) -> None:
        self.do(self._stop_worker())

    async def _store(self) -> Store:
        return await self.shop.client.store()

    async def start(self) -> None:
        await self._start_server()
        self._worker = await self.shop.worker(WORKING)
        await self._worker.start()
        self._obedience = asyncio.create_task(self._obey(self._worker))

    async def stop(self) -> None:
        self.shop.opened.set()
        self._obedience.cancel()
        await self._besides.aclose()
        await self._stop_worker()
        await self._stop_server()
        await self.shop.aclose()

    async def _start_server(self, *, has_tasks: bool = True) -> None:
        settings = ServerSettings(http_port=self.port, **self._settings)
        self._server = await make_server(self.shop, settings, has_tasks=has_tasks)
        await self._server.start()
        self.port = self._server.http_port

    async def _stop_server(self) -> None:
        server, self._server = self._server, None
        if server is not None:
            await server.stop()

    async def _obey(self, worker: Worker) -> None:
        """Do what the command does that runs a worker."""
        await worker.asked_to_stop()
        await self._stop_worker()

    async def _stop_worker(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            await worker.stop()


@contextmanager
def house(folder: Path, **settings: Any) -> Iterator[House]:
    """A house that is open until the block ends."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="house")
    thread.start()
    made = House(folder, loop, **settings)
    try:
        made.do(made.start())
        yield made
    finally:
        made.do(made.stop())
        loop.call_soon_threadsafe(loop.stop)
        thread.join(PATIENCE)
        loop.close()
