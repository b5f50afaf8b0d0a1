"""A store whose calls are told."""

import asyncio
import inspect
from pathlib import Path

import pytest

from windlass import Context, Windlass
from windlass.errors import InvalidOption, StoreUnavailable
from windlass.observe.events import Events
from windlass.stores.contract import Store
from windlass.stores.memory import MemoryStore
from windlass.stores.observed import CALLS, Observed, engine_of, observed
from windlass.testing.faults import FaultyStore
from windlass.testing.work import work

from .conftest import Notes


async def test_without_listeners_the_store_is_the_store_itself(app: Windlass) -> None:
    store = await app.client.store()
    assert isinstance(store, MemoryStore)
    assert observed(store, Events()) is store
    async with app.client.private_store() as private:
        assert isinstance(private, MemoryStore)


async def test_each_call_is_told_with_its_time_and_its_error(app: Windlass, notes: Notes) -> None:
    store = FaultyStore(MemoryStore())
    events = Events()
    events.observe(notes)
    watched = observed(store, events)
    await watched.ping()
    store.down = True
    with pytest.raises(StoreUnavailable):
        await watched.queues()
    [(ping, seconds, nothing), (queues, _, error)] = notes["called"]
    assert (ping, nothing, queues) == ("ping", None, "queues")
    assert seconds >= 0 and isinstance(error, StoreUnavailable)


async def test_whoever_uses_the_store_is_told(tmp_path: Path) -> None:
    app, notes = Windlass(f"sqlite:///{tmp_path}/jobs.db"), Notes()
    app.observe(notes)

    @app.task
    async def fine() -> None: ...

    await fine.aenqueue()
    await asyncio.to_thread(fine.enqueue)
    await work(app)
    calls = [call for call, _, _ in notes["called"]]
    assert calls.count("insert") == 2
    assert {"claim", "finish", "beat", "elect"} <= {*calls}
    assert "wait" not in calls
    await app.aclose()
    app.close()


async def test_transactions_still_find_their_engine(tmp_path: Path) -> None:
    app, notes = Windlass(f"sqlite:///{tmp_path}/jobs.db"), Notes()
    app.observe(notes)

    @app.task(context=True)
    async def exact(ctx: Context) -> None:
        async with ctx.transaction() as transaction:
            assert transaction is not None

    job = await exact.aenqueue()
    store = await app.client.store()
    assert isinstance(store, Observed) and engine_of(store) is not store
    await work(app)
    await job.aresult(timeout=20)
    [(_, move, _, error)] = notes["ended"]
    assert (str(move.state), error) == ("completed", None)
    await app.aclose()


def test_every_call_of_the_contract_is_told() -> None:
    methods = {name for name, _ in inspect.getmembers(Store, inspect.iscoroutinefunction)}
    assert methods - {*CALLS} == {"open", "close", "wait"}


async def test_a_call_with_an_error_of_the_caller_is_told_too(app: Windlass, notes: Notes) -> None:
    store = await app.client.store()
    with pytest.raises(InvalidOption):
        await store.lanes(10, "no cursor of this store")
    assert [call for call, _, error in notes["called"] if error] == ["lanes"]
