"""Middleware around enqueue: changes, refuses and observes jobs, whichever way they are made."""

import asyncio
import pickle
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest

from windlass import Middleware, Veto, Windlass
from windlass.core.model import JobQuery, Spec
from windlass.errors import InvalidOption, UsageError, WouldBlock
from windlass.middleware import Attempt, CallNext, NewJob, Receipt, Stack, changed


class Noted(Middleware):
    """Writes down what it sees, and leaves its name in a header."""

    def __init__(self, name: str, notes: list[str]) -> None:
        self.name = name
        self.notes = notes

    def enqueue(self, job: NewJob) -> NewJob:
        self.notes.append(f"{self.name} before {job.id}")
        way = (job.spec.headers or {}).get("way", "")
        return changed(job, headers={"way": way + self.name})

    def enqueued(self, job: NewJob, receipt: Receipt) -> None:
        again = " again" if receipt.duplicate else ""
        self.notes.append(f"{self.name} after {job.id}{again}")


class Doorkeeper(Middleware):
    """Lets jobs of no other queue than `default` in."""

    def enqueue(self, job: NewJob) -> NewJob:
        if job.queue != "default":
            raise Veto(f"the queue {job.queue} is closed")
        return job


class Both:
    """An app with one task, used from blocking and from async code alike."""

    def __init__(self, app: Windlass, is_async: bool) -> None:
        self.app = app
        self.is_async = is_async
        self.send = app.task(name="send")(send)

    async def enqueue(self, id: str, queue: str = "default") -> str:
        task = self.send.using(id=id, queue=queue)
        if self.is_async:
            return (await task.aenqueue(1)).id
        return (await asyncio.to_thread(task.enqueue, 1)).id

    async def enqueue_many(self, *ids: str, queues: dict[str, str] | None = None) -> list[str]:
        queues = queues or {}
        calls = [self.send.using(id=id, queue=queues.get(id, "default")).call(1) for id in ids]
        if self.is_async:
            handles = await self.app.aenqueue_many(calls)
        else:
            handles = await asyncio.to_thread(self.app.enqueue_many, calls)
        return [handle.id for handle in handles]

    async def stored(self) -> list[NewJob]:
        """What the store was given, as far as it matters here."""
        page = await (await self.app.client.store()).find(JobQuery())
        return [NewJob(job.id, job.spec, job.queue, job.priority) for job in page.jobs]


def send(user: int) -> None: ...


@pytest.fixture(params=[True, False], ids=["async", "blocking"])
def both(request: pytest.FixtureRequest, app: Windlass) -> Iterator[Both]:
    yield Both(app, request.param)
    app.close()


async def test_before_goes_in_order_and_after_in_reverse(both: Both) -> None:
    notes: list[str] = []
    for name in "abc":
        both.app.add_middleware(Noted(name, notes))
    assert await both.enqueue("x") == "x"
    assert notes == [f"{n} before x" for n in "abc"] + [f"{n} after x" for n in "cba"]
    [job] = await both.stored()
    assert job.spec.headers == {"way": "abc"}


async def test_many_jobs_each_get_the_whole_way(both: Both) -> None:
    notes: list[str] = []
    both.app.add_middleware(Noted("a", notes))
    both.app.add_middleware(Noted("b", notes))
    assert await both.enqueue_many("x", "y") == ["x", "y"]
    assert notes == [
        *("a before x", "b before x", "a before y", "b before y"),
        *("b after x", "a after x", "b after y", "a after y"),
    ]
    assert [job.spec.headers for job in await both.stored()] == [{"way": "ab"}] * 2


async def test_the_observer_knows_that_a_job_was_there_before(both: Both) -> None:
    notes: list[str] = []
    await both.enqueue("x")
    both.app.add_middleware(Noted("a", notes))
    await both.enqueue("x")
    await both.enqueue_many("x", "y")
    assert [note for note in notes if "after" in note] == [
        *("a after x again", "a after x again", "a after y"),
    ]


async def test_a_refused_job_is_not_stored_and_the_caller_gets_the_reason(both: Both) -> None:
    notes: list[str] = []
    both.app.add_middleware(Noted("a", notes))
    both.app.add_middleware(Doorkeeper())
    both.app.add_middleware(Noted("z", notes))
    with pytest.raises(UsageError) as caught:
        await both.enqueue("x", queue="mail")
    assert str(caught.value) == "A middleware refused the job: the queue mail is closed"
    assert isinstance(caught.value, Veto) and caught.value.reason == "the queue mail is closed"
    assert notes == ["a before x"]
    assert await both.stored() == []


async def test_one_refused_job_refuses_all_that_come_with_it(both: Both) -> None:
    both.app.add_middleware(Doorkeeper())
    with pytest.raises(Veto):
        await both.enqueue_many("x", "y", "z", queues={"y": "mail"})
    assert await both.stored() == []


async def test_any_other_error_reaches_the_caller_and_nothing_is_stored(both: Both) -> None:
    class Broken(Middleware):
        def enqueue(self, job: NewJob) -> NewJob:
            raise KeyError("tenant")

    both.app.add_middleware(Broken())
    with pytest.raises(KeyError, match="tenant"):
        await both.enqueue("x")
    assert await both.stored() == []


async def test_an_observer_that_fails_is_logged_for_the_job_is_stored(
    both: Both, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(Middleware):
        def enqueued(self, job: NewJob, receipt: Receipt) -> None:
            raise ConnectionError("no metrics today")

    notes: list[str] = []
    both.app.add_middleware(Noted("a", notes))
    both.app.add_middleware(Broken())
    assert await both.enqueue("x") == "x"
    assert notes[-1] == "a after x"
    assert "job x is stored, but" in caplog.text and "no metrics today" in caplog.text


async def test_a_middleware_can_change_where_and_when_a_job_runs(both: Both) -> None:
    class Rush(Middleware):
        def enqueue(self, job: NewJob) -> NewJob:
            return changed(job, queue="rush", priority="high", max_retries=0, labels={"a": "b"})

    both.app.add_middleware(Rush())
    await both.enqueue("x")
    [job] = await both.stored()
    assert (job.queue, job.priority, job.spec.max_retries) == ("rush", 75, 0)
    assert (job.spec.labels, job.spec.task, job.id) == ({"a": "b"}, "send", "x")


async def test_an_async_caller_is_refused_at_the_call_like_for_wrong_arguments(
    app: Windlass,
) -> None:
    app.add_middleware(Doorkeeper())
    task = app.task(name="send")(send).using(queue="mail")
    with pytest.raises(Veto):
        task.aenqueue(1)
    with pytest.raises(Veto):
        app.aenqueue_many([task.call(1)])


async def test_a_middleware_that_is_given_to_the_app_is_as_one_that_is_added(url: str) -> None:
    notes: list[str] = []
    app = Windlass(url, middleware=[Noted("a", notes), Noted("b", notes)])
    app.add_middleware(Noted("c", notes))
    await app.task(name="send")(send).using(id="x").aenqueue(1)
    assert notes[:3] == ["a before x", "b before x", "c before x"]
    await app.aclose()


async def test_making_a_call_is_not_enqueuing_it(app: Windlass) -> None:
    notes: list[str] = []
    app.add_middleware(Noted("a", notes))
    app.task(name="send")(send).call(1)
    assert notes == []


async def test_blocking_in_a_loop_is_still_refused(app: Windlass) -> None:
    app.add_middleware(Doorkeeper())
    with pytest.raises(WouldBlock):
        app.task(name="send")(send).enqueue(1)


def test_without_middleware_jobs_pass_untouched() -> None:
    class Bystander(Middleware):
        """Has no method of its own."""

    stack = Stack()
    stack.add(Bystander())
    jobs: list[NewJob] = []
    assert stack.before(jobs) is jobs
    assert stack.runs == ()


async def test_a_forgotten_return_is_said(app: Windlass) -> None:
    class Forgetful(Middleware):
        def enqueue(self, job: NewJob) -> NewJob:  # type: ignore[return]
            changed(job, queue="rush")

    app.add_middleware(Forgetful())
    with pytest.raises(InvalidOption, match=r"Forgetful.enqueue returned None; it must return"):
        app.task(name="send")(send).aenqueue(1)


class AsyncEnqueue(Middleware):
    async def enqueue(self, job: NewJob) -> NewJob:  # type: ignore[override]
        return job


class AsyncObserver(Middleware):
    async def enqueued(self, job: NewJob, receipt: Receipt) -> None:  # type: ignore[override]
        ...


class BlockingRun(Middleware):
    def run(self, attempt: Attempt, call_next: CallNext) -> None:  # type: ignore[override]
        ...


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (AsyncEnqueue, "AsyncEnqueue.enqueue must be a def, not an async def."),
        (AsyncObserver, "AsyncObserver.enqueued must be a def, not an async def."),
        (BlockingRun, "BlockingRun.run must be an async def."),
        (lambda: Doorkeeper, "an object of a class that extends Middleware; got <class"),
        (lambda: send, "an object of a class that extends Middleware; got <function"),
    ],
)
def test_what_cannot_be_a_middleware_is_refused(make: Callable[[], object], sentence: str) -> None:
    with pytest.raises(InvalidOption) as caught:
        Windlass("memory://", middleware=[make()])  # type: ignore[list-item]
    assert sentence in str(caught.value)


def test_a_change_leaves_everything_else_as_it_was() -> None:
    app = Windlass("memory://")
    moment = datetime(2030, 1, 1, tzinfo=UTC)
    task = app.task(name="send", timeout=5, keep=9, max_retries=7)(send)
    job = task.using(id="x", at=moment, unique="key", labels={"a": "b"}, priority=9).call(1).job
    assert changed(job) == job
    once = changed(job, headers={"trace": "1"})
    twice = changed(once, headers={"tenant": "ada"}, queue="rush")
    assert twice.spec.headers == {"trace": "1", "tenant": "ada"}
    assert changed(twice, headers={"trace": "2"}).spec.headers == {"trace": "2", "tenant": "ada"}
    delayed = changed(twice, delay=60)
    assert (delayed.due, delayed.delay) == (None, 60_000)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"priority": 500}, "priority is a whole number from 0 to 100"),
        ({"quue": "x"}, "Unknown option quue: did you mean queue?"),
        ({"headers": {"trace": 1}}, "headers is a mapping of texts to texts."),
        ({"headers": "trace"}, "headers is a mapping of texts to texts."),
    ],
)
def test_a_wrong_change_is_refused_like_a_wrong_option(
    changes: dict[str, object], sentence: str
) -> None:
    app = Windlass("memory://")
    job = app.task(name="send")(send).call(1).job
    with pytest.raises(InvalidOption) as caught:
        changed(job, **changes)  # type: ignore[arg-type]
    assert sentence in str(caught.value)


def test_a_veto_can_go_to_another_process_and_needs_no_reason() -> None:
    assert str(pickle.loads(pickle.dumps(Veto("no")))) == str(Veto("no"))
    assert str(Veto()) == "A middleware refused the job: it gave no reason"


@pytest.mark.parametrize(
    ("fresh", "id", "stays"),
    [(True, None, True), (True, "chosen", False), (False, None, False)],
)
def test_an_id_is_fresh_only_while_it_is_the_one_that_was_made(
    fresh: bool, id: str | None, stays: bool
) -> None:
    class Chooser(Middleware):
        def enqueue(self, job: NewJob) -> NewJob:
            return changed(job, priority=70) if id is None else changed(job, id=id)

    stack = Stack()
    stack.add(Chooser())
    (job,) = stack.before([NewJob("made", Spec("t", b""), fresh=fresh)])
    assert (job.id, job.fresh) == (id or "made", stays)
