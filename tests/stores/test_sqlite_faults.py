"""A store that is closed, or cannot write: an error of ours, and never a hang."""

import asyncio
import json
import sqlite3
from collections.abc import Callable, Coroutine
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.stores.process import finish, start
from windlass.core.model import JobQuery
from windlass.errors import StoreUnavailable
from windlass.stores.contract import Store
from windlass.stores.open import open_store
from windlass.testing.jobs import claim, put, state_of

CALLS: list[Callable[[Store], Coroutine[Any, Any, Any]]] = [
    lambda store: put(store, "a"),
    lambda store: claim(store),
    lambda store: store.get(["a"]),
    lambda store: store.find(JobQuery()),
    lambda store: store.queues(),
    lambda store: store.ping(),
    lambda store: store.prune(10),
]


@pytest.mark.parametrize("blocking", [False, True])
@pytest.mark.parametrize("call", CALLS)
async def test_a_store_that_was_never_opened_refuses_every_call(
    url: str, path: Path, call: Callable[[Store], Coroutine[Any, Any, Any]], blocking: bool
) -> None:
    store = open_store(url, blocking=blocking)
    async with asyncio.timeout(10):
        with pytest.raises(StoreUnavailable, match="open"):
            await call(store)
    assert not path.exists()


@pytest.mark.parametrize("blocking", [False, True])
@pytest.mark.parametrize("call", CALLS)
async def test_a_closed_store_refuses_every_call(
    url: str, call: Callable[[Store], Coroutine[Any, Any, Any]], blocking: bool
) -> None:
    store = open_store(url, blocking=blocking)
    await store.open()
    await store.close()
    async with asyncio.timeout(10):
        with pytest.raises(StoreUnavailable, match="open"):
            await call(store)


async def test_a_closed_store_can_be_closed_again_and_opened_again(url: str) -> None:
    store = open_store(url)
    await store.close()
    for n in range(3):
        await store.open()
        await put(store, str(n))
        await store.close()
        await store.close()
    await store.open()
    assert len(await store.get(["0", "1", "2"])) == 3
    await store.close()


FULL = """
import asyncio, json, os, resource, sys
from windlass.core.model import Spec
from windlass.errors import StoreError
from windlass.stores.open import open_store
from windlass.testing.jobs import put

path, blocking = sys.argv[1], sys.argv[2] == "True"
BIG = Spec("work", b"x" * 200_000)

async def main():
    store = open_store("sqlite:///" + path, blocking=blocking)
    await store.open()
    await put(store, "before")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (os.path.getsize(path + "-wal") + 50_000, hard))
    told = []
    for id in ("big", "small"):
        try:
            await put(store, id, spec=BIG)
        except StoreError as error:
            told.append([type(error).__name__, str(error)])
    found = sorted(await store.get(["before", "big", "small"]))
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    await put(store, "after", spec=BIG)
    found += await store.get(["after"])
    await store.close()
    print(json.dumps({"told": told, "found": found}))

asyncio.run(main())
"""


@pytest.fixture(params=[False, True], ids=["scribes", "blocking"], scope="module")
def full(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What happened to a store whose files could not grow for a while."""
    path = tmp_path_factory.mktemp("full") / "jobs.db"
    return json.loads(finish(start(FULL, path, request.param)))


def test_a_full_disk_costs_nothing_that_was_accepted_and_passes(full: Any) -> None:
    assert full["found"] == ["before", "after"]


def test_a_full_disk_is_an_engine_that_may_answer_later(full: Any) -> None:
    assert [kind for kind, _ in full["told"]] == ["StoreUnavailable", "StoreUnavailable"]


def test_a_full_disk_is_named_as_the_cause(full: Any) -> None:
    assert len(full["told"]) == 2
    for _, sentence in full["told"]:
        assert "disk" in sentence


async def test_a_damaged_row_fails_by_itself_and_not_the_claim(store: Store, path: Path) -> None:
    await put(store, "good", "bad")
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        raw.execute("UPDATE windlass_jobs SET spec = x'ff', error = '{' WHERE id = 'bad'")
    jobs = {job.id: job for job in await claim(store)}
    assert jobs["good"].spec.task == "work"
    assert jobs["bad"].spec.content_type == "unreadable"
    assert await state_of(store, "good") == "active"
