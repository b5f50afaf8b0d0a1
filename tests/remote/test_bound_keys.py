"""What a key that is bound to queues sees and does of attempts, counts, priorities and orders."""

import pytest
from msgspec.structs import replace

from tests.remote.conftest import call, with_key
from tests.remote.samples import ATTEMPT, WORK, WORKER
from windlass.core.model import NewJob
from windlass.core.stats import FINE, Tally
from windlass.errors import Forbidden, InvalidOption
from windlass.server.site import Site

MAIL = with_key("read", "work", "operate", queues=("mail", "post"))


async def test_attempts_of_others_are_not_there(site: Site) -> None:
    theirs = replace(ATTEMPT, id="b", queue="ops")
    await site.store.note_attempts([ATTEMPT, theirs, replace(ATTEMPT, queue="ops", fence=2)], 9_000)
    assert await call(site, "attempts", MAIL, ids=["a", "b"]) == {"a": [ATTEMPT]}


async def test_attempts_are_noted_for_own_jobs_alone(site: Site) -> None:
    await site.store.insert([NewJob("a", WORK, "mail"), NewJob("b", WORK, "ops")])
    noted = [ATTEMPT, replace(ATTEMPT, id="b"), replace(ATTEMPT, id="gone")]
    await call(site, "note_attempts", MAIL, records=noted, keep=9_000)
    assert set(await site.store.attempts(["a", "b", "gone"])) == {"a", "gone"}


async def test_all_together_is_what_the_key_sees(site: Site) -> None:
    await site.store.tally(
        "w",
        1,
        [Tally(queue, {"completed": n}) for queue, n in {"mail": 1, "post": 2, "ops": 4}.items()],
    )

    async def counted(*queues: str) -> dict[str, dict[str, int]]:
        points = await call(site, "stats", MAIL, queues=queues, step=FINE, since=0)
        return {point.queue: point.counts for point in points}

    assert await counted("", "mail", "ops") == {"": {"completed": 3}, "mail": {"completed": 1}}
    assert await counted("ops") == {}
    [whole] = await site.store.stats([""], FINE, 0)
    assert whole.counts == {"completed": 7}


async def test_jobs_of_others_keep_their_priority(site: Site) -> None:
    await site.store.insert([NewJob("a", WORK, "mail"), NewJob("b", WORK, "ops")])
    assert await call(site, "prioritize", MAIL, ids=["a", "b"], priority=60) == {"a"}
    assert {job.priority for job in (await site.store.get(["b"])).values()} == {50}


async def test_a_worker_that_serves_others_too_takes_no_orders(site: Site) -> None:
    queues = {"own": ("mail:3", "post"), "both": ("mail", "ops"), "all": ("*",), "theirs": ("ops",)}
    for id, served in queues.items():
        await site.store.beat(replace(WORKER, id=id, queues=served), 60_000)
    assert await call(site, "direct", MAIL, workers=["own", "theirs", "x"], order="quiet") == {
        "own"
    }
    for id in ("both", "all"):
        with pytest.raises(Forbidden, match=f"The worker {id} serves more queues than the key"):
            await call(site, "direct", MAIL, workers=["own", id], order="stop")
    orders = {
        id: await site.store.beat(replace(WORKER, id=id, queues=served), 60_000)
        for id, served in queues.items()
    }
    assert orders == {"own": "quiet", "both": None, "all": None, "theirs": None}


async def test_an_order_comes_with_the_beat(site: Site) -> None:
    assert await call(site, "beat", MAIL, worker=WORKER, ttl=60_000) is None
    assert await call(site, "direct", MAIL, workers=["w"], order="stop") == {"w"}
    assert await call(site, "beat", MAIL, worker=WORKER, ttl=60_000) == "stop"


@pytest.mark.parametrize("priority", [-1, 101])
async def test_a_priority_that_no_job_can_have_is_refused(site: Site, priority: int) -> None:
    with pytest.raises(InvalidOption, match="priority"):
        await call(site, "prioritize", ids=["a"], priority=priority)


@pytest.mark.parametrize(
    "counts",
    [
        {f"count-{n}": 1 for n in range(101)},
        {"n" * 65: 1},
        {"completed": -1},
        {"completed": 2**60},
    ],
)
async def test_counts_that_nobody_can_have_made_are_refused(
    site: Site, counts: dict[str, int]
) -> None:
    with pytest.raises(InvalidOption):
        await call(site, "tally", worker="w", number=1, tallies=[Tally("mail", counts)])
    assert list(await site.store.stats([""], FINE, 0)) == []


async def test_attempts_are_not_kept_for_ages(site: Site) -> None:
    with pytest.raises(InvalidOption, match="at the most"):
        await call(site, "note_attempts", records=[ATTEMPT], keep=2**52)
