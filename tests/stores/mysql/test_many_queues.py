"""A claim from many queues asks once where there is something."""

from collections.abc import Sequence

import pytest

from tests.servers.server import Server
from tests.stores.mysql.site import emptied, opened
from windlass.core.states import State
from windlass.stores.mysql.link import Answer, Link
from windlass.testing.jobs import bring, ids, put


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many statements each round trip had."""
    trips: list[int] = []
    ask = Link.ask

    async def counted(
        link: Link, statements: Sequence[str], timeout: float | None = None
    ) -> list[Answer]:
        trips.append(len(statements))
        return await ask(link, statements, timeout)

    monkeypatch.setattr(Link, "ask", counted)
    return trips


async def test_empty_queues_cost_no_round_trips(mariadb_server: Server, asked: list[int]) -> None:
    queues = {f"q{n:03}": 10 for n in range(1000)}
    async with opened(emptied(mariadb_server.url)) as store:
        asked.clear()
        assert await store.claim(queues, 10, 60_000, "w") == []
        assert len(asked) <= 2 and sum(asked) < 10
        await put(store, "a", queue="q007")
        await put(store, "b", queue="q900")
        await put(store, "later", queue="q500", delay=60_000)
        await bring(store, "run", State.ACTIVE, queue="q300")
        await put(store, "c", "d", queue="q300")
        asked.clear()
        assert ids(await store.claim(queues, 10, 60_000, "w")) == ["a", "c", "d", "b"]
        assert len(asked) <= 7


async def test_a_paused_queue_gives_nothing_among_many(mariadb_server: Server) -> None:
    async with opened(emptied(mariadb_server.url)) as store:
        await put(store, "a", queue="one")
        await put(store, "b", queue="two")
        await store.pause("one")
        assert ids(await store.claim({"one": 5, "two": 5, "three": 5}, 9, 60_000, "w")) == ["b"]
