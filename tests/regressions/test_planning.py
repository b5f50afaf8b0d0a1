"""Pains of schedules, workflows, oversight and access. Each is impossible here: the proof."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from redis import Redis

from tests.server.serving import served
from tests.servers.server import Server
from windlass import State, Windlass, chord, group
from windlass.config import WorkerSettings
from windlass.core.apikey import new_key
from windlass.core.ids import new_id
from windlass.core.model import Spec
from windlass.core.schedule import Schedule
from windlass.errors import UnknownJob
from windlass.scheduler.leader import Leader
from windlass.scheduler.ticker import Ticker
from windlass.stores.contract import Store
from windlass.stores.redis.keys import Keys, slot_of, tags
from windlass.testing.clock import FakeClock
from windlass.testing.jobs import BOOM, claim_one, counts, finish, ids, listing, put, state_of
from windlass.testing.work import work


def ticker(store: Store) -> Ticker:
    leader = Leader(store, "me")
    leader.is_leader = True
    return Ticker(store, leader, {})


async def test_two_schedulers_make_one_job_of_a_tick(store: Store, clock: FakeClock) -> None:
    """Two are double work, and one is a single point of failure."""
    await store.put_schedules([Schedule("s", "@every 60s", Spec("t", b""))])
    both = ticker(store), ticker(store)
    for _ in range(3):
        clock.advance(60)
        await asyncio.gather(*(each.attend() for each in both))
    assert len(await listing(store)) == 3


async def test_a_tick_missed_during_a_deploy_runs_once_if_that_is_asked_for(
    store: Store, clock: FakeClock
) -> None:
    """Skipped without a word, because nobody was there for a second."""
    for missed in ("last", "skip"):
        plan = Schedule(missed, "@hourly", Spec("t", b""), missed=missed)
        await store.put_schedules([plan])
    clock.advance(5 * 3600 - clock.now // 1000 % 3600 + 600)
    await ticker(store).attend()
    assert [id.partition("@")[0] for id in ids(await listing(store))] == ["last"]


def test_all_keys_that_a_script_on_redis_may_use_share_one_slot() -> None:
    """CROSSSLOT: a queue that does not work on a Cluster."""
    for tag in tags(16):
        keys = Keys("ns", tag)
        used = [*keys.fixed, *keys.for_one("q"), *keys.pair("{other}"), keys.token("{w}")]
        # What Redis hashes is the text in the first pair of braces.
        found = {slot_of(key.partition("{")[2].partition("}")[0]) for key in used}
        assert found == {keys.slot}


async def test_no_key_on_redis_is_outside_of_its_namespace_and_tag(redis_server: Server) -> None:
    """Keys that no script declares, without a tag."""
    space = new_id()
    app = Windlass(f"{redis_server.url}?namespace={space}")

    @app.task
    async def fine() -> None: ...

    with Redis(port=redis_server.port) as redis:
        before = set(redis.scan_iter())
        await fine.using(unique="key", delay=0.01).aenqueue()
        await fine.using(queue="{odd}").aenqueue()
        await work(app, WorkerSettings(queues=("*",)))
        await app.aclose()
        made = {key.decode() for key in redis.scan_iter() if key not in before}
    assert made
    assert [key for key in made if not key.startswith((f"{space}:{{", f"{space}:schema"))] == []


@pytest.mark.parametrize("end", [State.COMPLETED, State.DEAD, State.CANCELLED])
async def test_a_callback_follows_whatever_way_the_last_member_ends(
    store: Store, end: State
) -> None:
    """A callback that never comes, because a member was killed or cancelled."""
    await put(store, "a", "b")
    await put(store, "strict", spec=Spec("t", b"", parents=("a", "b")))
    await put(store, "anyway", spec=Spec("t", b"", parents=("a", "b"), runs_anyway=True))
    assert await finish(store, await claim_one(store), State.COMPLETED)
    last = await claim_one(store)
    if end is State.CANCELLED:
        assert await store.cancel([last.id])
    else:
        assert await finish(store, last, end, error=BOOM if end is State.DEAD else None)
    expected = State.PENDING if end is State.COMPLETED else State.CANCELLED
    assert await state_of(store, "strict") is expected
    assert await state_of(store, "anyway") is State.PENDING


async def test_no_dependent_of_a_failed_job_waits_for_ever(app: Windlass, store: Store) -> None:
    """Deferred until something ends that has ended."""

    @app.task(max_retries=0)
    async def fails(n: int) -> int:
        raise ValueError(n)

    @app.task
    async def total(numbers: list[int]) -> int:
        return sum(numbers)

    await app.aenqueue_workflow(chord(group(fails.step(1), fails.step(2)), total.step()))
    await work(app)
    # The third is what stands for the workflow as a whole.
    assert await counts(store) == {State.DEAD: 3, State.CANCELLED: 1}


async def test_depth_and_age_of_a_queue_are_the_stores_and_the_dead_can_be_replayed(
    store: Store, clock: FakeClock
) -> None:
    """A view that keeps history in its own memory, and cannot bring back what failed."""
    await put(store, "a", "b")
    assert await finish(store, await claim_one(store), State.DEAD, error=BOOM)
    clock.advance(90)
    assert clock.now - (await store.oldest(["default"]))["default"] == 90_000
    assert await counts(store) == {State.PENDING: 1, State.DEAD: 1}
    assert await store.replay(["a"]) == {"a"}
    assert await counts(store) == {State.PENDING: 2}


def test_a_job_exists_if_and_only_if_the_users_transaction_commits(tmp_path: Path) -> None:
    """Started before its row is there, or never, though the row is."""
    app = Windlass(f"sqlite:///{tmp_path}/jobs.db")

    @app.task
    def welcome() -> None: ...

    first = welcome.enqueue()
    with closing(sqlite3.connect(tmp_path / "jobs.db")) as mine:
        undone = welcome.using(connection=mine).enqueue()
        mine.rollback()
        done = welcome.using(connection=mine).enqueue()
        mine.commit()
    assert {first.get().state, done.get().state} == {State.PENDING}
    with pytest.raises(UnknownJob):
        undone.get()
    app.close()


async def test_a_server_that_has_keys_lets_nobody_in_without_one() -> None:
    """An API or a view without a lock, or with the key in its page."""
    app = Windlass("memory://")
    made = new_key(["admin"])
    await (await app.client.store()).put_keys([made.key])
    async with served(app, has_tasks=False) as api:
        url = f"{api.url}/api/v1/queues"
        async with api.session.get(url) as answer:
            assert answer.status == 401
        async with api.session.get(url, headers={"Authorization": f"Bearer {made.text}"}) as answer:
            assert answer.status == 200
    await app.aclose()
