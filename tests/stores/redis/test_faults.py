"""A reply that is lost on its way: the call is made again, and nothing is done twice."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.servers.proxy import Proxy
from tests.servers.server import Server
from tests.stores.redis.outage import opened
from windlass import Windlass
from windlass.core.ids import new_id
from windlass.core.model import Failure, Job, NewJob, Spec, Transition
from windlass.core.states import State
from windlass.stores.contract import Store
from windlass.testing.jobs import LEASE, WORK, bring, claim, claim_one, counts, job_of, put
from windlass.testing.work import until


@pytest.fixture
async def direct(redis_server: Server, namespace: str) -> AsyncIterator[Store]:
    """A store that nothing happens to."""
    async with opened(redis_server.url, namespace) as store:
        # Loads the scripts into the server, so that what is lost is the reply to a deed.
        await bring(store, "warm", State.COMPLETED, queue="warm")
        await bring(store, "lease", State.ACTIVE, queue="warm")
        await store.renew([(await job_of(store, "lease")).lease], LEASE)
        yield store


@pytest.fixture
async def store(redis_server: Server, redis_proxy: Proxy, namespace: str) -> AsyncIterator[Store]:
    """The same data as `direct`, over a bad network."""
    async with opened(redis_proxy.through(redis_server.url), namespace) as store:
        yield store


@pytest.fixture
def namespace() -> str:
    return new_id()


async def test_the_jobs_of_a_claim_whose_reply_was_lost_come_at_once(
    direct: Store, store: Store, redis_proxy: Proxy
) -> None:
    await put(direct, "a", "b", "c")
    redis_proxy.drop_replies(2, after=b"EVALSHA")
    jobs = await claim(store, 2)
    assert redis_proxy.counts.dropped == 2
    assert [(job.id, job.attempt) for job in jobs] == [("a", 1), ("b", 1)]
    for job in jobs:
        kept = await job_of(direct, job.id)
        assert (kept.fence, kept.attempt, kept.state) == (job.fence, 1, State.ACTIVE)
    assert [job.id for job in await claim(direct, worker="w2")] == ["c"]
    done = [Transition(job.id, job.fence, State.COMPLETED) for job in jobs]
    assert await direct.finish(done) == {"a", "b"}


async def test_two_claims_of_one_worker_whose_replies_were_lost_do_not_share_jobs(
    direct: Store, store: Store, redis_proxy: Proxy
) -> None:
    await put(direct, *(f"job-{n}" for n in range(20)))
    redis_proxy.drop_replies(1, after=b"EVALSHA")
    first, second = await asyncio.gather(claim(store, 10), claim(store, 10))
    claimed = [job.id for job in (*first, *second)]
    assert redis_proxy.counts.dropped == 1
    assert sorted(claimed) == sorted(set(claimed))
    left = await claim(direct, 20, worker="w2")
    assert len(claimed) + len(left) == 20


@pytest.mark.parametrize(
    ("state", "keep"),
    [(State.COMPLETED, 60_000), (State.COMPLETED, 0), (State.DEAD, 0), (State.RETRY, 0)],
)
async def test_a_finish_whose_reply_was_lost_counts_as_held(
    direct: Store, store: Store, redis_proxy: Proxy, state: State, keep: int
) -> None:
    spec = Spec("work", b"", keep=keep)
    await put(direct, "a", "b", spec=spec)
    jobs = await claim(direct)
    error = None if state is State.COMPLETED else Failure("ValueError", "boom")
    moves = [Transition(job.id, job.fence, state, delay=60_000, error=error) for job in jobs]
    redis_proxy.drop_replies(2, after=b"EVALSHA")
    assert await store.finish(moves) == {"a", "b"}
    assert redis_proxy.counts.dropped == 2
    expected = {} if (state, keep) == (State.COMPLETED, 0) else {"a": (state, 1), "b": (state, 1)}
    assert await states(direct, "a", "b") == expected
    assert await counts(direct) == ({state: 2} if expected else {})


async def test_a_finish_by_who_lost_the_lease_is_refused_even_if_repeated(
    direct: Store, store: Store, redis_proxy: Proxy
) -> None:
    await put(direct, "a")
    late = await claim_one(direct)
    assert await direct.finish([Transition("a", late.fence, State.PENDING, refund=True)])
    owner = await claim_one(direct, worker="w2")
    redis_proxy.drop_replies(1, after=b"EVALSHA")
    assert await store.finish([Transition("a", late.fence, State.COMPLETED)]) == frozenset()
    assert redis_proxy.counts.dropped == 1
    kept = await job_of(direct, "a")
    assert (kept.state, kept.fence, kept.worker) == (State.ACTIVE, owner.fence, "w2")


async def test_a_renewal_whose_reply_was_lost_tells_the_same(
    direct: Store, store: Store, redis_proxy: Proxy
) -> None:
    await put(direct, "a", "b")
    held, lost = await claim(direct)
    await direct.cancel([lost.id])
    redis_proxy.drop_replies(2, after=b"EVALSHA")
    assert await store.renew([held.lease, lost.lease], 4 * LEASE) == {held.id}
    assert redis_proxy.counts.dropped == 2
    assert ends(await job_of(direct, held.id)) > ends(held) + LEASE


async def test_single_enqueues_at_the_same_time_are_stored_once_each(
    direct: Store, store: Store, redis_proxy: Proxy
) -> None:
    await put(direct, "x")
    redis_proxy.drop_replies(3, after=b"EVALSHA")
    jobs = [NewJob(f"job-{n}", WORK, fresh=True) for n in range(50)]
    receipts = await asyncio.gather(*(store.insert([job]) for job in jobs))
    assert redis_proxy.counts.dropped == 3
    assert [receipt.id for [receipt] in receipts] == [job.id for job in jobs]
    assert len(await claim(direct, 200)) == 51


async def test_every_job_runs_once_while_replies_go_missing(
    redis_server: Server, redis_proxy: Proxy, namespace: str
) -> None:
    app = Windlass(f"{redis_proxy.through(redis_server.url)}?namespace={namespace}")
    runs: list[int] = []

    @app.task
    async def note(n: int) -> None:
        await asyncio.sleep(0.001)
        runs.append(n)

    worker = await app.worker()
    await worker.start()
    for batch in range(10):
        redis_proxy.drop_replies(2, after=b"EVALSHA")
        await app.aenqueue_many([note.call(20 * batch + n) for n in range(20)])
    await until(lambda: len(runs) >= 200)
    await worker.stop()
    store = await app.client.store()
    [queue] = await store.queues()
    await app.aclose()
    assert redis_proxy.counts.dropped >= 10
    assert sorted(runs) == list(range(200))
    assert queue.counts == {State.COMPLETED: 200}


async def states(store: Store, *ids: str) -> dict[str, tuple[State, int]]:
    return {id: (job.state, job.attempt) for id, job in (await store.get(ids)).items()}


def ends(job: Job) -> int:
    assert job.lease_until is not None
    return job.lease_until
