"""Claims go on where they ended while it is slow to begin at the start, and only then."""

import asyncio

import asyncmy
import pytest

from tests.servers.server import Server
from tests.stores.mysql.site import emptied, opened
from windlass.core.model import Transition
from windlass.core.states import State
from windlass.stores.mysql import horizon
from windlass.stores.mysql.horizon import LATE, MANY, SLOW, Horizon, Spot
from windlass.testing.jobs import claim, ids, new_job, put

END = Spot(50, 100)


def test_a_quick_claim_leaves_no_spot() -> None:
    known = Horizon()
    known.note({}, {"q": END}, MANY, 0.0, SLOW)
    assert known.spots(["q"], 0.0) == {}


def test_a_slow_claim_of_many_leaves_one_for_a_while() -> None:
    known = Horizon()
    known.note({}, {"q": END}, MANY, 0.0, 0.1)
    assert known.spots(["q", "r"], 0.2) == {"q": END}
    later = Spot(50, 200)
    known.note({"q": END}, {"q": later}, MANY, 0.2, 0.21)
    assert known.spots(["q"], 0.3) == {"q": later}
    assert known.spots(["q"], 0.1 + LATE) == {}


def test_it_is_gone_when_a_claim_found_less_than_asked_or_this_process_wrote() -> None:
    known = Horizon()
    known.note({}, {"q": END}, MANY, 0.0, 0.1)
    known.note({"q": END}, {"q": None}, 3, 0.1, 0.2)
    assert known.spots(["q"], 0.2) == {}
    known.note({}, {"q": END}, MANY, 0.2, 0.3)
    known.clear()
    assert known.spots(["q"], 0.3) == {}


def test_a_claim_of_few_leaves_none_however_slow() -> None:
    known = Horizon()
    known.note({}, {"q": END}, MANY - 1, 0.0, 9.0)
    assert known.spots(["q"], 9.0) == {}


async def test_every_job_is_claimed_once_and_none_is_passed_over(
    mariadb_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a transaction open that keeps InnoDB from cleaning up, and every claim called slow."""
    url = emptied(mariadb_server.url)
    monkeypatch.setattr(horizon, "SLOW", -1.0)
    async with opened(url) as store, opened(url) as other:
        connection = await asyncmy.connect(
            host="127.0.0.1", port=mariadb_server.port, user="windlass", database="windlass"
        )
        async with connection.cursor() as cursor:
            await cursor.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")
            await put(store, *(f"job-{n:04}" for n in range(1000)))
            first = await claim(store, MANY)
            urgent = [new_job(f"urgent-{n}", priority=100) for n in range(3)]
            await other.insert(urgent)
            await other.finish(
                [Transition(job.id, job.fence, State.PENDING, refund=True) for job in first[:2]]
            )
            second = await claim(store, MANY)
            assert ids(second)[0] == f"job-{MANY:04}"
            seen = [*ids(first[2:]), *ids(second)]
            async with asyncio.timeout(30):
                while jobs := await claim(store, MANY):
                    seen += ids(jobs)
        await connection.ensure_closed()
        assert sorted(seen) == sorted(
            [f"job-{n:04}" for n in range(1000)] + [job.id for job in urgent]
        )
