"""A finish that failed may have been carried out: the next try is told so, and nothing else is."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable
from typing import Any

import pytest

from tests.servers.proxy import Proxy
from tests.servers.server import Server
from tests.stores.redis.transports import ECHO, connected
from tests.stores.redis.watch import fresh, fresh_namespace
from windlass import Windlass
from windlass.config import WorkerSettings
from windlass.core.model import Job, Transition
from windlass.core.states import State
from windlass.errors import StoreUnavailable
from windlass.stores import doubts
from windlass.stores.contract import Store
from windlass.stores.doubts import Doubts
from windlass.testing.jobs import FLEETING, bring, claim, put, state_of

ENDLESSLY = 1_000_000


@pytest.fixture
def namespace() -> str:
    return fresh_namespace()


@pytest.fixture
async def direct(redis_server: Server, namespace: str) -> AsyncIterator[Store]:
    """A store that nothing happens to."""
    async with fresh(redis_server.url, namespace=namespace) as store:
        # Loads the scripts into the server, so that what is lost is the reply to a deed.
        await bring(store, "warm", State.COMPLETED, queue="warm")
        yield store


@pytest.fixture
async def store(redis_server: Server, redis_proxy: Proxy, namespace: str) -> AsyncIterator[Store]:
    """The same data over a bad network, with little patience."""
    url = redis_proxy.through(redis_server.url)
    async with fresh(url, namespace=namespace, patience="0.2") as store:
        yield store


async def fail(store: Store, proxy: Proxy, moves: list[Transition]) -> None:
    """Finish, with every reply lost until the store gave up."""
    proxy.drop_replies(ENDLESSLY, after=b"EVALSHA")
    with pytest.raises(StoreUnavailable) as caught:
        await store.finish(moves)
    proxy.drop_replies(0)
    assert caught.value.settled == frozenset()
    assert proxy.counts.dropped >= 2


def moved(job: Job, state: State, **options: Any) -> Transition:
    return Transition(job.id, job.fence, state, queue=job.queue, ref=job.ref, **options)


def completed(*jobs: Job) -> list[Transition]:
    return [moved(job, State.COMPLETED) for job in jobs]


@pytest.mark.parametrize("state", [State.COMPLETED, State.RETRY, State.DEAD])
async def test_a_finish_in_doubt_counts_as_held_when_it_is_made_again(
    direct: Store, store: Store, redis_proxy: Proxy, state: State
) -> None:
    await put(direct, "a", "b")
    jobs = await claim(direct)
    moves = [moved(job, state, delay=60_000) for job in jobs]
    await fail(store, redis_proxy, moves)
    assert await state_of(direct, "a") is state
    assert await store.finish(moves) == {"a", "b"}


async def test_so_does_one_whose_job_was_not_kept(
    direct: Store, store: Store, redis_proxy: Proxy
) -> None:
    await put(direct, "a", "b", "c", spec=FLEETING)
    a, b, c = await claim(direct)
    await fail(store, redis_proxy, completed(a, b))
    # In whatever company it comes again.
    assert await store.finish(completed(b, c)) == {"b", "c"}
    assert await store.finish(completed(a)) == {"a"}
    # Answered once, it is no longer in doubt.
    assert await store.finish(completed(a)) == frozenset()


async def test_a_lease_that_another_has_by_now_is_lost_all_the_same(
    direct: Store, store: Store, redis_proxy: Proxy
) -> None:
    await put(direct, "a")
    [job] = await claim(direct)
    release = [moved(job, State.PENDING, refund=True)]
    await fail(store, redis_proxy, release)
    [owner] = await claim(direct, worker="w2")
    assert await store.finish(release) == frozenset()
    assert await direct.finish(completed(owner)) == {"a"}


async def test_no_worker_takes_a_job_that_it_completed_for_lost(
    redis_server: Server,
    redis_proxy: Proxy,
    direct: Store,
    namespace: str,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    url = redis_proxy.through(redis_server.url)
    app = Windlass(f"{url}?namespace={namespace}&patience=0.2")
    runs: list[int] = []
    gave_up = asyncio.Event()
    add = Doubts.add

    def note_doubt(doubts: Doubts, moves: Iterable[Transition]) -> None:
        add(doubts, moves)
        gave_up.set()

    monkeypatch.setattr(Doubts, "add", note_doubt)

    @app.task
    async def note(n: int) -> None:
        # From here on, the next script that the worker runs is its finish.
        redis_proxy.drop_replies(ENDLESSLY, after=b"EVALSHA")
        runs.append(n)

    worker = await app.worker(WorkerSettings(lease=60))
    await app.aenqueue_many([note.call(n) for n in range(5)])
    await worker.start()
    async with asyncio.timeout(30):
        await gave_up.wait()
    redis_proxy.drop_replies(0)
    await worker.stop()
    await app.aclose()
    assert sorted(runs) == list(range(5))
    [queue] = [queue for queue in await direct.queues() if queue.name == "default"]
    assert queue.counts == {State.COMPLETED: 5}
    assert [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert not [message for message in caplog.messages if "lease was lost" in message]


async def test_who_says_so_is_taken_at_his_word(redis_server: Server) -> None:
    async with connected(redis_server.url) as transport:
        assert await transport.run(0, ECHO, [], ["x"], again=True) == [b"1", b"x"]
        assert await transport.run(0, ECHO, [], ["x"]) == [b"0", b"x"]


def test_only_so_many_doubts_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doubts, "MOST", 3)
    moves = [Transition(f"job-{n}", 1, State.COMPLETED) for n in range(5)]
    known = Doubts()
    known.add(moves)
    assert [known.any([move]) for move in moves] == [False, False, True, True, True]
    assert not known.any([Transition("job-4", 2, State.COMPLETED)])
    known.forget(moves)
    assert not known.any(moves)
