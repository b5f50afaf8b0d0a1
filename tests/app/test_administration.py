"""What an app, and a connection without one, lists, counts and changes in its store."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from tests.app.engines import ENGINES, url_of
from windlass import State, Windlass, chain, chord, connect, group
from windlass.config import WorkerSettings
from windlass.core.workers import WorkerInfo
from windlass.errors import InvalidArguments, InvalidOption, UnknownJob, WrongState
from windlass.testing.work import work


@pytest.fixture(params=ENGINES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return url_of(request, tmp_path)


class Shop:
    def __init__(self, app: Windlass) -> None:
        self.app = app
        self.broken = True
        self.sent: list[tuple[int, str]] = []

        @app.task(queue="mail", max_retries=0)
        async def send(order: int, who: str = "ada") -> int:
            if self.broken:
                raise ValueError(f"no stamp for order {order}")
            self.sent.append((order, who))
            return order

        @app.task
        async def count(orders: list[int]) -> int:
            return len(orders)

        self.send, self.count = send, count

    async def kill(self, *orders: int) -> list[str]:
        jobs = [await self.send.using(labels={"n": str(n)}).aenqueue(n) for n in orders]
        await work(self.app)
        return [job.id for job in jobs]


@pytest.fixture
def shop(app: Windlass) -> Shop:
    return Shop(app)


async def test_queues_are_listed_paused_resumed_and_purged(app: Windlass, shop: Shop) -> None:
    await shop.send.using(delay=100).aenqueue(1)
    await shop.send.aenqueue(2)
    (mail,) = await app.queues.alist()
    assert (mail.name, mail.paused, mail.depth) == ("mail", False, 2)
    assert mail.counts == {State.SCHEDULED: 1, State.PENDING: 1}
    assert mail.oldest_at is not None
    assert mail.age >= 0
    switched = await app.queues.apause("mail", "new")
    assert (switched.changed, switched.unknown) == (["mail", "new"], ["new"])
    assert (await app.queues.apause("mail")).changed == []
    assert (await app.queues.aget("mail")).paused
    assert (await app.queues.aresume("mail", "new")).changed == ["mail", "new"]
    assert (await app.queues.apurge("mail", dry_run=True)).count == 2
    assert (await app.queues.apurge("mail", "pending")).count == 1
    assert (await app.queues.apurge("mail", task="send")).count == 1
    assert (await app.queues.aget("mail")).depth == 0


async def test_jobs_are_found_and_counted_by_whatever_is_asked(app: Windlass, shop: Shop) -> None:
    ids = await shop.kill(1, 2, 3)
    await shop.count.aenqueue([1])
    assert {job.id async for job in app.jobs.afind(states="dead")} == {*ids}
    assert [job.id async for job in app.jobs.afind(argument="order=2")] == [ids[1]]
    assert [job.id async for job in app.jobs.afind(labels={"n": "3"})] == [ids[2]]
    assert len([job async for job in app.jobs.afind(limit=2, error="STAMP")]) == 2
    assert await app.jobs.acount() == 4
    assert await app.jobs.acount(states=["dead", State.PENDING], queue="mail") == 3
    assert await app.jobs.acount(argument="order=1") == 1
    now = datetime.now(UTC)
    assert await app.jobs.acount(since=now + timedelta(hours=1)) == 0
    first = await app.jobs.alist(limit=2, task="send")
    rest = await app.jobs.alist(limit=2, task="send", cursor=first.cursor)
    assert {job.id for job in [*first.jobs, *rest.jobs]} == {*ids}
    assert (await app.jobs.aget(ids[0])).state is State.DEAD
    with pytest.raises(UnknownJob):
        await app.jobs.aget("nobody")


async def test_jobs_are_changed_by_ids_or_by_a_filter(app: Windlass, shop: Shop) -> None:
    jobs = [await shop.send.using(delay=1_000).aenqueue(n) for n in range(4)]
    assert (await app.jobs.aprioritize(queue="mail", priority="high")).count == 4
    assert (await app.jobs.aget(jobs[0])).priority == 75
    assert (await app.jobs.areschedule(jobs[0], delay=500)).ids == [jobs[0].id]
    dry = await app.jobs.areschedule(task="send", delay=5, dry_run=True)
    done = await app.jobs.areschedule(task="send", delay=5)
    assert (dry.count, done.count) == (4, 4)
    assert len({(await job.aget()).due for job in jobs}) == 1
    gone = await app.jobs.acancel(jobs[0], "nobody")
    assert (gone.count, gone.left, gone.ids) == (1, 1, [jobs[0].id])
    assert gone.refused == {"nobody": "There is no job nobody."}
    assert (await app.jobs.acancel(argument="order=1")).count == 1
    assert (await app.jobs.areplay(states="cancelled")).count == 2
    assert (await app.jobs.adelete(queue="mail", dry_run=True)).count == 4
    assert (await app.jobs.adelete(queue="mail")).count == 4
    assert await app.jobs.acount() == 0


async def test_dead_jobs_are_grouped_replayed_and_deleted(app: Windlass, shop: Shop) -> None:
    ids = await shop.kill(*range(5))
    found = await app.dead.agroups()
    (one,) = found.groups
    assert (one.count, one.task, one.pattern) == (5, "send", "no stamp for order …")
    assert await app.dead.acount(fingerprint=one.fingerprint) == 5
    assert [job.id async for job in app.dead.afind(limit=1)] != []
    assert (await app.dead.adelete(ids[4])).ids == [ids[4]]
    assert (await app.dead.areplay(all=True, dry_run=True)).count == 4
    shop.broken = False
    assert (await app.dead.areplay(ids[0])).count == 1
    assert (await app.dead.areplay(fingerprint=one.fingerprint, argument="order=1")).count == 1
    assert (await app.dead.areplay(all=True)).count == 2
    await work(app)
    assert sorted(order for order, _ in shop.sent) == [0, 1, 2, 3]
    shop.broken = True
    await shop.kill(8, 9)
    assert (await app.dead.apurge(older_than=3600)).count == 0
    exported = [msgspec.json.decode(msgspec.json.encode(job)) async for job in app.dead.aexport()]
    assert sorted(job["args"][0] for job in exported) == [8, 9]
    assert (await app.dead.apurge(task="send")).count == 2
    assert (await app.dead.alist()).jobs == []


async def test_a_dead_job_is_replayed_with_other_arguments(app: Windlass, shop: Shop) -> None:
    (id,) = await shop.kill(7)
    with pytest.raises(InvalidArguments):
        await app.dead.areplay_with(id, args=["seven", "eight", "nine"])
    with pytest.raises(InvalidArguments, match="order"):
        await app.dead.areplay_with(id, args=["seven"])
    shop.broken = False
    job = await app.dead.areplay_with(id, args=[8], kwargs={"who": "bob"}, queue="fast")
    assert (await job.aget()).queue == "fast"
    assert await app.jobs.acount() == 1
    await work(app, WorkerSettings(queues=("fast",)))
    assert shop.sent == [(8, "bob")]
    with pytest.raises(WrongState, match="it is completed"):
        await app.dead.areplay_with(job, priority=1)


async def test_the_key_of_a_job_follows_its_arguments(app: Windlass) -> None:
    @app.task(sequence=lambda name: name, max_retries=0)
    async def tell(name: str) -> None:
        raise ValueError(name)

    job = await tell.aenqueue("ada")
    await work(app)
    new = await (await app.dead.areplay_with(job, args=["bob"])).aget()
    assert new.spec.lane is not None
    assert new.spec.lane.name == "sequence:bob"


async def test_workers_are_listed_and_told(app: Windlass) -> None:
    store = await app.client.store()
    await store.beat(WorkerInfo("w1", "box", 42, ("mail",), 10, 0), 30_000)
    assert [worker.id for worker in await app.workers.alist()] == ["w1"]
    told = await app.workers.aquiet("w1", "w2")
    assert (told.ids, [*told.refused]) == (["w1"], ["w2"])
    assert [(worker.order, worker.claims) for worker in await app.workers.alist()] == [
        ("quiet", False)
    ]
    assert (await app.workers.aresume("w1")).count == 1
    assert (await app.workers.astop("w1")).count == 1
    assert (await app.workers.alist())[0].order == "stop"


async def test_what_is_asked_wrongly_is_told_with_what_is_meant(app: Windlass) -> None:
    told = {
        "did you mean states": lambda: app.jobs.find(state="dead"),  # type: ignore[call-arg]
        "There is no state pendin: did you mean pending": lambda: app.jobs.find(states="pendin"),
        "known are states, queue": lambda: app.jobs.find(color="x"),  # type: ignore[call-arg]
        "their ids, or a filter": lambda: app.jobs.cancel(),
        "and not both": lambda: app.jobs.cancel("a", queue="mail"),
        "for other states there is app.jobs": lambda: app.dead.replay(states="active"),
        "dry_run goes with a filter": lambda: app.jobs.delete("a", dry_run=True),
        "Active jobs cannot be deleted": lambda: app.queues.purge("mail", "active"),
        "limit is a whole number": lambda: app.jobs.list(limit=0),
        "above 0; got -1": lambda: app.jobs.find(limit=-1),
        "above 0; got '3'": lambda: app.dead.afind(limit="3"),  # type: ignore[arg-type]
        "argument is a text; got 3": lambda: app.jobs.find(argument=3),  # type: ignore[arg-type]
        "argument is a text; got 4": lambda: app.dead.find(argument=[4]),  # type: ignore[list-item]
        "Name the queues": lambda: app.queues.pause(),
        "Name the workers": lambda: app.workers.quiet(),
        "with a time zone": lambda: app.jobs.find(since=datetime(2026, 1, 1)),
        "No job can be cancelled that is dead": lambda: asyncio.run(
            app.jobs.acancel(states="dead")
        ),
    }
    for text, act in told.items():
        with pytest.raises(InvalidOption, match=text):
            await asyncio.to_thread(act)


async def test_blocking_code_and_a_connection_have_the_same(url: str) -> None:
    app = Windlass(url)
    shop = Shop(app)
    try:
        ids = await shop.kill(1, 2)

        def administrate() -> None:
            assert {job.id for job in app.dead.find()} == {*ids}
            assert app.dead.count() == 2
            assert app.dead.groups().looked_at == 2
            assert [queue.name for queue in app.queues.list()] == ["mail"]
            assert app.queues.pause("mail").changed == ["mail"]
            assert app.queues.resume("mail").changed == ["mail"]
            assert app.workers.list() == []
            assert app.workers.quiet("w").count == 0
            assert len(app.jobs.list().jobs) == 2
            assert app.jobs.get(ids[0]).id == ids[0]
            assert app.dead.replay_with(ids[0], priority="high").get().priority == 75
            assert len([*app.dead.export()]) == 1
            assert app.dead.purge().count == 1
            assert app.queues.purge("mail").count == 1

        await asyncio.to_thread(administrate)
        if not url.startswith("memory"):
            async with connect(url) as connection:
                assert await connection.jobs.acount() == 0
                assert await connection.workers.alist() == []
    finally:
        await app.aclose()
        app.close()


async def test_a_replay_of_the_dead_brings_whole_workflows_back(app: Windlass, shop: Shop) -> None:
    steps = chord(group(shop.send.step(1), shop.send.step(2)), shop.count.step())
    first = await app.aenqueue_workflow(steps, id="w")
    other = await app.aenqueue_workflow(chain(shop.send.step(3)), id="v")
    await work(app)
    states = {job.id: job.state async for job in app.jobs.afind()}
    assert states["w.3"] is State.CANCELLED
    assert (states["w"], states["w.1"]) == (State.DEAD, State.DEAD)
    shop.broken = False
    assert (await app.dead.areplay(all=True)).left == 0
    await work(app)
    assert await first.aresult() == 2
    assert await other.aresult() == 3
    assert await app.dead.acount() == 0


@pytest.mark.parametrize("which", ["w", "w.1", "w.2"])
async def test_one_job_of_a_workflow_brings_it_back(app: Windlass, shop: Shop, which: str) -> None:
    workflow = await app.aenqueue_workflow(
        chain(shop.send.step(1), group(shop.send.step())), id="w", on_failure=shop.send.step(9)
    )
    await work(app)
    assert (await app.jobs.aget("w:failure")).state is State.DEAD
    assert (await app.jobs.areplay("w:failure")).count == 1
    assert (await app.jobs.aget("w")).state is State.DEAD
    await work(app)
    shop.broken = False
    assert (await app.jobs.areplay(which)).ids == [which]
    await work(app)
    assert await workflow.aresult() == [1]
    assert [order for order, _ in shop.sent] == [1, 1]


async def test_a_job_whose_workflow_is_gone_is_replayed_alone(app: Windlass, shop: Shop) -> None:
    await app.aenqueue_workflow(chain(shop.send.step(1)), id="w")
    await work(app)
    assert (await app.jobs.adelete("w")).count == 1
    shop.broken = False
    assert (await app.dead.areplay(all=True)).count == 1
    await work(app)
    assert (await app.jobs.aget("w.1")).state is State.COMPLETED
