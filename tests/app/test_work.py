"""`windlass.testing.work`: an app's jobs, run to where nothing is left to do now."""

import pytest

from windlass import Windlass
from windlass.core.model import JobQuery, Page
from windlass.core.states import State
from windlass.stores.memory import MemoryStore
from windlass.testing.clock import FakeClock
from windlass.testing.work import work


async def test_it_runs_what_is_due_and_leaves_what_is_not(url: str) -> None:
    clock = FakeClock()
    app = Windlass(url, clock=clock)
    ran: list[str] = []

    @app.task
    async def note(name: str) -> None:
        ran.append(name)

    await note.aenqueue("now")
    await note.using(delay=60).aenqueue("in a minute")
    later = await note.using(delay=3600).aenqueue("in an hour")
    await work(app)
    assert ran == ["now"]
    clock.advance(61)
    await work(app)
    assert ran == ["now", "in a minute"]
    assert (await later.aget()).state is State.SCHEDULED
    await app.aclose()


async def test_it_runs_what_handlers_enqueue(app: Windlass) -> None:
    ran: list[int] = []

    @app.task
    async def count(number: int) -> None:
        ran.append(number)
        if number:
            await count.aenqueue(number - 1)

    await count.aenqueue(3)
    await work(app)
    assert ran == [3, 2, 1, 0]


async def test_it_runs_what_comes_while_it_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a job does that becomes pending after those were counted and before the others are."""
    app = Windlass("memory://")
    ran: list[str] = []

    @app.task
    async def note(name: str) -> None:
        ran.append(name)

    find, looks = MemoryStore.find, 0

    async def find_late(store: MemoryStore, query: JobQuery) -> Page:
        nonlocal looks
        looks += 1
        page = await find(store, query)
        if looks == 1:
            await store.insert([note.call("late").job])
        return page

    monkeypatch.setattr(MemoryStore, "find", find_late)
    await work(app)
    assert ran == ["late"]
    await app.aclose()
