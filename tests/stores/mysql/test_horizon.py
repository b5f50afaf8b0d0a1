"""Claims go on where they ended while it is slow to begin at the start, and only then."""

import asyncio

import asyncmy
import pytest

from tests.servers.server import Server
from tests.stores.mysql.site import emptied, opened
from windlass.core.model import Transition
from windlass.core.states import State
from windlass.stores.mysql.horizon import IN_A_ROW, LATE, SLOW, Horizon, Spot
from windlass.testing.jobs import claim, ids, new_job, put

END = Spot(50, 100)
FEW, MANY = 10, 50


@pytest.mark.parametrize("number", [1, 10, 50, 1000])
def test_a_claim_that_takes_what_is_usual_leaves_no_spot(number: int) -> None:
    known = Horizon()
    for turn in range(100):
        known.note({}, {"q": END}, number, turn, turn + SLOW * (1 + turn % 2))
        assert known.spots(["q"], turn + SLOW) == {}


@pytest.mark.parametrize("number", [1, 10, 50, 1000])
def test_claims_that_become_slow_leave_one_for_a_while_however_few_jobs_they_give(
    number: int,
) -> None:
    known = Horizon()
    known.note({}, {"q": END}, number, 0.0, 0.01)
    for turn in range(1, IN_A_ROW + 1):
        assert known.spots(["q"], turn) == {}
        known.note({}, {"q": END}, number, turn, turn + 0.1)
    ended = IN_A_ROW + 0.1
    assert known.spots(["q", "r"], ended) == {"q": END}
    later = Spot(50, 200)
    known.note({"q": END}, {"q": later}, number, ended, ended + 0.01)
    assert known.spots(["q"], ended + 0.02) == {"q": later}
    assert known.spots(["q"], ended + LATE) == {}


def test_a_slow_machine_is_not_taken_for_a_long_way() -> None:
    """Where one ended, claims are as slow: then that is the usual."""
    known = slow_one()
    for turn in range(20):
        known.note({"q": END}, {"q": END}, FEW, turn, turn + 0.1)
    for turn in range(20, 30):
        known.note({}, {"q": END}, FEW, turn, turn + 0.1)
    assert known.spots(["q"], 30.0) == {}


def test_where_nothing_is_left_the_last_end_stays() -> None:
    known = slow_one()
    known.note({"q": END}, {"q": None}, 0, 0.1, 0.11)
    assert known.spots(["q"], 0.2) == {"q": END}
    known.note({}, {"q": None}, 0, 3.0, 3.1)
    for turn in range(4, 4 + IN_A_ROW):
        known.note({}, {"q": None}, 0, turn, turn + 5.0)
    assert known.spots(["q"], 12.0) == {"q": END}


def test_it_is_gone_when_this_process_put_a_better_job_there_or_changed_lines() -> None:
    known = slow_one()
    known.put("q", END.rank)
    known.put("r", 0)
    assert known.spots(["q"], 0.2) == {"q": END}
    known.put("q", END.rank - 1)
    assert known.spots(["q"], 0.2) == {}
    known = slow_one()
    known.clear()
    assert known.spots(["q"], 0.3) == {}


def slow_one() -> Horizon:
    known = Horizon()
    known.note({}, {"q": END}, FEW, 0.0, 0.1)
    assert known.spots(["q"], 0.2) == {"q": END}
    return known


async def test_every_job_is_claimed_once_and_none_is_passed_over(
    mariadb_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a transaction open that keeps InnoDB from cleaning up, and every claim called slow."""
    url = emptied(mariadb_server.url)
    monkeypatch.setattr(Horizon, "_is_slow", lambda *_, **__: True)
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
