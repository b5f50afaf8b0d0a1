"""A job that is enqueued on a user's connection exists if and only if its transaction commits."""

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from tests.transactions.blocking_desks import PsycopgDesk, PymysqlDesk
from tests.transactions.conftest import DRIVERS, ENGINES, ONE_OF_EACH_KIND, SERVERS, pairs
from tests.transactions.desk import Desk
from tests.transactions.engines import Engine
from windlass import Limit, Middleware, State, Windlass
from windlass.core.model import NewJob, Receipt
from windlass.core.options import JobOptions
from windlass.errors import InvalidArguments, InvalidOption, PayloadTooLarge, UnknownJob
from windlass.middleware import changed
from windlass.testing.work import counts, work
from windlass.worker import fetcher


def states(app: Windlass) -> Counter[State]:
    return +app.client.block(counts, "", "")


def run_jobs(app: Windlass) -> None:
    async def all_of_them() -> None:
        await work(app)
        await app.aclose()

    asyncio.run(all_of_them())


def test_a_commit_makes_the_job_and_the_users_row_together_and_wakes_a_worker(
    app: Windlass, engine: Engine, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetcher, "LONGEST_WAIT", 600.0)

    @app.task
    def double(number: int) -> int:
        return 2 * number

    with working(app):
        desk.begin()
        desk.note("before")
        job = desk.enqueue(double, 21)
        desk.note("after")
        assert not states(app)
        assert engine.notes() == []
        desk.commit()
        assert engine.notes() == ["after", "before"]
        assert job.result(timeout=20) == 42
    assert not job.duplicate
    assert states(app) == {State.COMPLETED: 1}


@contextmanager
def working(app: Windlass) -> Iterator[None]:
    """A worker in a thread of its own: some connections belong to the thread that made them."""
    started, stop = threading.Event(), threading.Event()

    async def worker_until_stop() -> None:
        worker = await app.worker()
        await worker.start()
        started.set()
        await asyncio.to_thread(stop.wait)
        await worker.stop()
        await app.aclose()

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(asyncio.run, worker_until_stop())
        assert started.wait(20)
        try:
            yield
        finally:
            stop.set()
            running.result()


def test_a_rollback_leaves_neither(app: Windlass, engine: Engine, desk: Desk) -> None:
    @app.task
    def never() -> None: ...

    desk.begin()
    desk.note("lost")
    job = desk.enqueue(never)
    desk.rollback()
    assert not states(app)
    assert engine.notes() == []
    with pytest.raises(UnknownJob):
        job.get()
    desk.begin()
    desk.enqueue(never)
    desk.commit()
    assert states(app) == {State.PENDING: 1}


def test_many_jobs_come_with_one_commit(app: Windlass, desk: Desk) -> None:
    @app.task
    def count(n: int) -> int:
        return n

    desk.begin()
    jobs = desk.enqueue_many(app, [count.using(queue=f"q{n % 3}").call(n) for n in range(130)])
    assert not states(app)
    desk.commit()
    assert states(app) == {State.PENDING: 130}
    assert [job.get().queue for job in jobs[:4]] == ["q0", "q1", "q2", "q0"]
    assert len({job.id for job in jobs}) == 130


def test_all_that_a_job_can_ask_for_comes_with_the_commit(app: Windlass, desk: Desk) -> None:
    @app.task
    def run(n: int, text: str = "") -> tuple[int, str]:
        return n, text

    waiting = run.using(unique="waiting", id="waiting", delay=3_600).enqueue(0)
    options: list[JobOptions] = [
        {"sequence": "s"},
        {"sequence": "s"},
        {"limit": Limit(concurrency=1, rate="5/s", key="k")},
        {"group": "g", "weight": 3},
        {"unique": "window", "unique_for": 3_600.0},
        {"unique": "brief", "unique_for": "started"},
        {"depends_on": waiting},
    ]
    desk.begin()
    jobs = desk.enqueue_many(
        app, [run.using(**each).call(n, "ß\0") for n, each in enumerate(options)]
    )
    changed = desk.enqueue(run.using(unique="waiting", on_conflict="replace"), 9)
    later = desk.enqueue(run.using(delay=60, priority=80, labels={"a": "ü"}, id="own"), 0)
    assert states(app) == {State.SCHEDULED: 1}
    desk.commit()
    assert states(app) == {State.BLOCKED: 2, State.PENDING: 6, State.SCHEDULED: 1}
    assert (changed.id, changed.duplicate) == (waiting.id, True)
    assert run.using(unique="window").enqueue(1).id == jobs[4].id
    stored = later.get()
    assert (stored.id, stored.priority, stored.spec.labels) == ("own", 80, {"a": "ü"})
    assert stored.due - stored.created_at == 60_000
    run_jobs(app)
    assert waiting.result() == (9, "")
    assert [job.result() for job in jobs] == [(n, "ß\0") for n in range(len(jobs))]


def test_a_duplicate_is_told_and_does_not_hurt_the_transaction(
    app: Windlass, engine: Engine, desk: Desk
) -> None:
    @app.task
    def once() -> None: ...

    first = once.using(unique="key", id="first").enqueue()
    desk.begin()
    same_key = desk.enqueue(once.using(unique="key"))
    same_id = desk.enqueue(once.using(id="first"))
    new = desk.enqueue(once.using(unique="other"))
    twice = desk.enqueue_many(app, [once.using(unique="third").call() for _ in range(2)])
    desk.note("fine")
    desk.commit()
    assert (same_key.id, same_key.duplicate) == (first.id, True)
    assert (same_id.id, same_id.duplicate) == (first.id, True)
    assert not new.duplicate
    assert [job.duplicate for job in twice] == [False, True]
    assert twice[0].id == twice[1].id
    assert states(app) == {State.PENDING: 3}
    assert engine.notes() == ["fine"]


@pytest.mark.parametrize("pair", pairs(*ENGINES, desks=ONE_OF_EACH_KIND), indirect=True)
def test_options_and_middleware_work_as_without_a_connection(app: Windlass, desk: Desk) -> None:
    told: list[Receipt] = []

    class Mark(Middleware):
        def enqueue(self, job: NewJob) -> NewJob:
            return changed(job, headers={"by": "middleware"})

        def enqueued(self, job: NewJob, receipt: Receipt) -> None:
            told.append(receipt)

    app.add_middleware(Mark())

    @app.task
    def later(text: str) -> None: ...

    desk.begin()
    job = desk.enqueue(later.using(delay=60, priority=80, labels={"a": "ü"}, id="own"), "ß\0")
    desk.commit()
    stored = job.get()
    assert (stored.id, stored.state, stored.priority) == ("own", State.SCHEDULED, 80)
    assert stored.due - stored.created_at == 60_000
    assert stored.spec.labels == {"a": "ü"}
    assert stored.spec.headers == {"by": "middleware"}
    assert told == [Receipt("own")]


@pytest.mark.parametrize("pair", pairs(*ENGINES, desks=ONE_OF_EACH_KIND), indirect=True)
def test_wrong_arguments_are_refused_and_the_transaction_goes_on(
    app: Windlass, engine: Engine, desk: Desk
) -> None:
    @app.task
    def add(a: int) -> None: ...

    desk.begin()
    desk.note("kept")
    with pytest.raises(InvalidArguments):
        desk.enqueue(add)
    with pytest.raises(PayloadTooLarge):
        desk.enqueue(add, "x" * 2_000_000)
    with pytest.raises(InvalidOption):
        desk.enqueue(add.using(delay=-1), 1)
    desk.commit()
    assert engine.notes() == ["kept"]
    assert not states(app)


def test_a_connection_without_a_transaction_is_refused(app: Windlass, desk: Desk) -> None:
    @app.task
    def never() -> None: ...

    desk.autocommit()
    with pytest.raises(InvalidOption, match="autocommit"):
        desk.enqueue(never)
    assert not states(app)


# Not on SQLite, where one writer at a time is all there is.
@pytest.mark.parametrize("pair", pairs(*SERVERS, desks=DRIVERS), indirect=True)
def test_a_transaction_that_stays_open_is_in_nobodys_way(app: Windlass, desk: Desk) -> None:
    @app.task(keep=0)
    def job() -> None: ...

    desk.begin()
    late = desk.enqueue(job.using(queue="other"))
    desk.enqueue(job)
    for _ in range(3):
        job.enqueue()
    run_jobs(app)
    assert not states(app)
    desk.commit()
    assert states(app) == {State.PENDING: 2}
    assert late.get().queue == "other"


@pytest.mark.parametrize(
    ("name", "kind", "place"),
    [("postgres", PsycopgDesk, "schema=apart"), ("mariadb", PymysqlDesk, "namespace=apart")],
    ids=["schema", "namespace"],
)
def test_tables_that_lie_apart_are_found(
    name: str, kind: type[Desk], place: str, open_engine: Callable[[str], Engine]
) -> None:
    engine = open_engine(name)
    app = Windlass(f"{engine.url}?{place}")

    @app.task(keep=0)
    def answer() -> None: ...

    run_jobs(app)
    desk = kind(engine)  # type: ignore[call-arg]
    desk.enqueue(answer)
    desk.commit()
    desk.close()
    assert states(app) == {State.PENDING: 1}
    run_jobs(app)
    assert not states(app)
    app.close()
