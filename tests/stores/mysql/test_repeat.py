"""A step whose answer was lost is made again, and does no harm by it.

`tests/stores/sql` has what is the same on all engines.
"""

import pytest

from tests.servers.proxy import Proxy
from tests.servers.server import Server
from tests.stores.mysql.site import emptied, opened
from windlass.core.lane import Lane
from windlass.core.model import NEVER, Conflict, Receipt, Spec, Transition
from windlass.core.states import State
from windlass.errors import StoreUnavailable
from windlass.testing.jobs import claim_one, counts, job_of, new_job, put, state_of


@pytest.fixture
def direct(mariadb_server: Server) -> str:
    return emptied(mariadb_server.url)


@pytest.fixture
def through(direct: str, mariadb_proxy: Proxy) -> str:
    return mariadb_proxy.through(direct)


async def test_the_jobs_of_a_claim_whose_reply_was_lost_come_at_once(
    direct: str, through: str, mariadb_proxy: Proxy
) -> None:
    async with opened(direct) as observer, opened(through) as store:
        await put(store, "a", "b", "c")
        mariadb_proxy.drop_replies(1, after=b"COMMIT")
        jobs = await store.claim({"default": 2}, 2, 60_000, "w")
        assert mariadb_proxy.counts.dropped == 1
        assert [(job.id, job.attempt) for job in jobs] == [("a", 1), ("b", 1)]
        for job in jobs:
            kept = await job_of(observer, job.id)
            assert (kept.fence, kept.attempt, kept.state) == (job.fence, 1, State.ACTIVE)
        assert (await claim_one(observer)).id == "c"
        ends = [Transition(job.id, job.fence, State.COMPLETED, ref=job.ref) for job in jobs]
        assert await observer.finish(ends) == {"a", "b"}


async def test_a_claim_that_failed_is_given_by_the_next_one(
    direct: str, through: str, mariadb_proxy: Proxy
) -> None:
    """Its answer was lost for longer than anybody is patient: no attempt was made of it."""
    async with opened(direct) as observer, opened(f"{through}&patience=0") as store:
        await put(store, "a", "b", "c", spec=Spec("work", b""))
        await put(store, "other", queue="other")
        mariadb_proxy.drop_replies(1, after=b"COMMIT")
        with pytest.raises(StoreUnavailable):
            await store.claim({"default": 2, "other": 1}, 3, 60_000, "w")
        assert mariadb_proxy.counts.dropped == 1
        jobs = await store.claim({"default": 2}, 2, 60_000, "w")
        assert [(job.id, job.attempt) for job in jobs] == [("a", 1), ("b", 1)]
        assert [job.id for job in await store.claim({"default": 2}, 2, 60_000, "w")] == ["c"]
        ends = [Transition(job.id, job.fence, State.COMPLETED, ref=job.ref) for job in jobs]
        assert await observer.finish(ends) == {"a", "b"}


@pytest.mark.parametrize("state", [State.COMPLETED, State.DEAD, State.RETRY, State.PENDING])
async def test_a_finish_that_was_carried_out_counts_as_held(
    direct: str, through: str, mariadb_proxy: Proxy, state: State
) -> None:
    async with opened(direct) as observer, opened(through) as store:
        await put(store, "a", spec=Spec("work", b""))
        job = await claim_one(store)
        mariadb_proxy.drop_replies(1, after=b"COMMIT")
        move = Transition(job.id, job.fence, state, delay=60_000, queue=job.queue, ref=job.ref)
        assert await store.finish([move]) == {"a"}
        assert mariadb_proxy.counts.dropped == 1
        assert await state_of(observer, "a") is state
        assert await counts(observer) == {state: 1}


async def test_a_finish_that_came_too_late_is_told_so_though_it_was_tried_twice(
    direct: str, through: str, mariadb_proxy: Proxy
) -> None:
    async with opened(direct) as observer, opened(through) as store:
        await put(store, "a")
        job = await claim_one(store)
        await observer.cancel(["a"])
        mariadb_proxy.drop_replies(1, after=b"COMMIT")
        end = Transition(job.id, job.fence, State.COMPLETED, queue=job.queue, ref=job.ref)
        assert await store.finish([end]) == frozenset()
        assert await state_of(observer, "a") is State.CANCELLED


async def test_a_job_that_goes_on_because_its_signal_had_come_counts_as_held(
    direct: str, through: str, mariadb_proxy: Proxy
) -> None:
    async with opened(direct) as observer, opened(through) as store:
        await put(store, "a")
        job = await claim_one(store)
        assert await observer.signal("a", "go", b"")
        mariadb_proxy.drop_replies(1, after=b"COMMIT")
        move = Transition(job.id, job.fence, State.SCHEDULED, due=NEVER, awaits="go", ref=job.ref)
        assert await store.finish([move]) == {"a"}
        assert mariadb_proxy.counts.dropped == 1
        assert await counts(observer) == {State.PENDING: 1}


async def test_who_came_along_with_a_claim_whose_reply_was_lost_comes_at_once(
    direct: str, through: str, mariadb_proxy: Proxy
) -> None:
    together = Spec("work", b"", lane=Lane("together", size=3, grace=60_000, longest=60_000))
    async with opened(direct) as observer, opened(through) as store:
        await put(store, "a", "b", "c", spec=together)
        mariadb_proxy.drop_replies(1, after=b"COMMIT")
        jobs = await store.claim({"default": 1}, 1, 60_000, "w")
        assert mariadb_proxy.counts.dropped == 1
        assert sorted(job.id for job in jobs) == ["a", "b", "c"]
        ends = [Transition(job.id, job.fence, State.COMPLETED, ref=job.ref) for job in jobs]
        assert await observer.finish(ends) == {"a", "b", "c"}


@pytest.mark.parametrize("conflict", ["reject", "replace", "last"])
async def test_an_insert_with_a_window_that_is_repeated_finds_itself(
    direct: str, through: str, mariadb_proxy: Proxy, conflict: Conflict
) -> None:
    async with opened(direct) as observer, opened(through) as store:
        window = Spec("work", b"", unique_for=60_000)
        job = new_job("lost-reply", window, unique="k", conflict=conflict, fresh=True)
        mariadb_proxy.drop_replies(1, after=b"COMMIT")
        assert await store.insert([job]) == [Receipt("lost-reply")]
        assert mariadb_proxy.counts.dropped == 1
        assert await counts(observer) == {State.PENDING: 1}
        later = new_job("later", window, unique="k")
        assert await observer.insert([later]) == [Receipt("lost-reply", duplicate=True)]
