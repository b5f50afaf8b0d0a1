"""Declaring tasks and making jobs of them."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from windlass import Context, State, Windlass, current_context
from windlass.core.model import DAY_MS
from windlass.errors import InvalidArguments, InvalidOption, UsageError
from windlass.middleware import changed


def test_a_task_can_be_declared_with_and_without_parentheses() -> None:
    app = Windlass("memory://")

    @app.task
    def bare(x: int) -> int:
        return x + 1

    @app.task(queue="mail", priority="high", max_retries=5, timeout=2.5, keep=timedelta(hours=1))
    def full(x: int) -> int:
        return x + 2

    assert list(app.registry) == ["bare", "full"]
    assert bare.options.queue == "default"
    assert (full.options.queue, full.options.priority) == ("mail", 75)
    assert (full.options.max_retries, full.options.timeout) == (5, 2500)
    assert full.options.keep == 3_600_000


async def test_the_function_stays_callable() -> None:
    app = Windlass("memory://")

    @app.task
    def double(x: int) -> int:
        return 2 * x

    @app.task
    async def adouble(x: int) -> int:
        return 2 * x

    @app.task(context=True)
    def which(ctx: Context, x: int) -> tuple[int, int]:
        return ctx.attempt, x

    assert double(4) == 8
    assert await adouble(4) == 8
    assert which(4) == (1, 4)


def test_a_task_may_have_a_name_of_its_own_but_not_anothers() -> None:
    app = Windlass("memory://")

    @app.task(name="mail.send")
    def send() -> None: ...

    assert send.name == "mail.send"
    with pytest.raises(InvalidOption, match=r"a task mail\.send already"):
        app.task(name="mail.send")(lambda: None)


@pytest.mark.parametrize("thing", [int, "text", None, 3])
def test_only_a_function_can_become_a_task(thing: object) -> None:
    with pytest.raises(InvalidOption, match="made of a function"):
        Windlass("memory://").task(name="x")(thing)  # type: ignore[call-overload]


def test_taking_a_context_and_saying_so_go_together() -> None:
    app = Windlass("memory://")

    def takes(ctx: Context, x: int) -> None: ...
    def takes_none(x: int) -> None: ...
    def takes_it_last(x: int, ctx: Context) -> None: ...

    with pytest.raises(InvalidOption, match=r"takes a Context: say @app.task\(context=True\)"):
        app.task(takes)
    with pytest.raises(InvalidOption, match="first parameter of takes_none must be a Context"):
        app.task(context=True)(takes_none)  # type: ignore[arg-type]
    with pytest.raises(InvalidOption, match="as the first positional parameter"):
        app.task(takes_it_last)
    assert len(app.registry) == 0


async def test_an_enqueued_job_has_what_its_task_and_using_said(app: Windlass) -> None:
    @app.task(queue="mail", max_retries=7)
    def send(user: int, *, subject: str = "hi") -> None: ...

    moment = datetime.now(UTC) + timedelta(days=2)
    plain = await send.aenqueue(1)
    special = await send.using(
        id="mine", priority=90, at=moment, unique="u:1", labels={"tenant": "a"}, timeout=9, keep=0
    ).aenqueue(1, subject="x")
    job, other = await plain.aget(), await special.aget()
    assert (job.queue, job.priority, job.spec.max_retries) == ("mail", 50, 7)
    assert (job.state, job.spec.timeout, job.spec.keep) == (State.PENDING, None, DAY_MS)
    assert (other.id, other.state, other.priority) == ("mine", State.SCHEDULED, 90)
    assert other.due == -int(-moment.timestamp() * 1000 // 1)
    assert (other.unique, other.spec.labels) == ("u:1", {"tenant": "a"})
    assert (other.spec.timeout, other.spec.keep) == (9000, 0)


async def test_using_does_not_change_the_task_itself(app: Windlass) -> None:
    @app.task
    def send() -> None: ...

    send.using(queue="other", delay=60)
    assert (await (await send.aenqueue()).aget()).queue == "default"


async def test_an_id_or_a_unique_key_given_twice_is_the_same_job(app: Windlass) -> None:
    @app.task
    def send(x: int) -> None: ...

    first = await send.using(id="one").aenqueue(1)
    again = await send.using(id="one").aenqueue(2)
    held = await send.using(unique="key").aenqueue(3)
    other = await send.using(unique="key").aenqueue(4)
    assert not first.duplicate and again.duplicate and again.id == "one"
    assert not held.duplicate and other.duplicate and other.id == held.id


async def test_many_jobs_go_in_one_step_and_duplicates_do_not_lose_the_rest(app: Windlass) -> None:
    @app.task
    def send(x: int) -> None: ...

    @app.task
    async def call(x: str) -> None: ...

    handles = await app.aenqueue_many(
        [send.using(id="a").call(1), send.using(id="a").call(2), call.call("x"), send.call(3)]
    )
    assert [handle.duplicate for handle in handles] == [False, True, False, False]
    store = await app.client.store()
    assert (await store.queues())[0].counts == {State.PENDING: 3}


async def test_arguments_that_do_not_fit_fail_at_the_caller(app: Windlass) -> None:
    @app.task
    def send(user: int, subject: str = "") -> None: ...

    for args, kwargs in [((), {}), ((1, "a", 2), {}), ((1,), {"sbject": "x"})]:
        with pytest.raises(InvalidArguments, match="send"):
            send.aenqueue(*args, **kwargs)  # type: ignore[arg-type]
        with pytest.raises(TypeError):
            send.call(*args, **kwargs)  # type: ignore[arg-type]
    assert await (await app.client.store()).queues() == []


async def test_a_forgotten_await_loses_no_job(app: Windlass) -> None:
    @app.task
    def send(x: int) -> None: ...

    send.using(id="forgotten").aenqueue(1)
    await app.aclose()
    store = await app.client.store()
    async with asyncio.timeout(10):
        while "forgotten" not in await store.get(["forgotten"]):
            await asyncio.sleep(0.005)


def test_there_is_no_current_context_outside_a_job() -> None:
    with pytest.raises(UsageError, match="no current job"):
        current_context()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"quue": "x"}, "Unknown option quue: did you mean queue?"),
        ({"wholly_unknown_thing": 1}, "Unknown option wholly_unknown_thing: known are"),
        ({"delay": -1}, "delay must be a finite number of seconds, 0 or more; got -1."),
        ({"delay": float("nan")}, "delay must be a finite number"),
        ({"delay": "soon"}, "delay is a number of seconds or a timedelta; got 'soon'."),
        ({"delay": 4e9}, "delay is at most 100 years."),
        ({"delay": 10**5_000}, "delay is at most 100 years."),
        ({"priority": 10**5_000}, "got a value of type int."),
        ({"orphaned": "x" * 5_000}, f"got '{'x' * 199}…."),
        ({"at": datetime(2030, 1, 1)}, "at needs a datetime with a time zone"),
        ({"at": "tomorrow"}, "at takes a datetime"),
        ({"delay": 1, "at": datetime(2030, 1, 1, tzinfo=UTC)}, "Give delay or at, not both."),
        ({"priority": 101}, "priority is a whole number from 0 to 100"),
        ({"priority": -1}, "priority is a whole number from 0 to 100"),
        ({"priority": "urgent"}, "priority is a whole number"),
        ({"priority": True}, "priority is a whole number"),
        ({"queue": ""}, "The name of a queue is a text of 1 to 128 characters."),
        ({"queue": "q" * 129}, "The name of a queue is a text of 1 to 128 characters."),
        ({"queue": " q"}, "no blanks at its ends"),
        ({"queue": "a\nb"}, "printable characters only"),
        ({"max_retries": -1}, "max_retries is a whole number, 0 or more"),
        ({"max_retries": 1.5}, "max_retries is a whole number"),
        ({"timeout": 0}, "timeout must be above 0"),
        ({"keep": -1}, "keep must be a finite number"),
        ({"id": ""}, "A job id is a text of 1 to 128 characters."),
        ({"id": "x" * 129}, "A job id is a text of 1 to 128 characters."),
        ({"unique": ""}, "unique is a text of 1 to 255 characters."),
        ({"labels": {"a": 1}}, "labels is a mapping of texts to texts."),
    ],
)
def test_a_wrong_option_is_refused_with_one_sentence(
    options: dict[str, object], sentence: str
) -> None:
    app = Windlass("memory://")

    @app.task
    def send() -> None: ...

    with pytest.raises(InvalidOption) as caught:
        send.using(**options)  # type: ignore[arg-type]
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_only_an_id_that_was_made_for_the_job_is_fresh() -> None:
    app = Windlass("memory://")

    @app.task
    def send() -> None: ...

    assert send.call().job.fresh
    assert send.using(unique="x").call().job.fresh
    assert not send.using(id="x").call().job.fresh
    assert not changed(send.call().job, id="x").fresh


@pytest.mark.parametrize(
    "options",
    [
        {"id": "x"},
        {"delay": 1},
        {"jitter": 2},
        {"backoff": "slow"},
        {"backoff": []},
        {"backoff": -1},
        {"retry_on": "ValueError"},
        {"fatal_on": (ValueError, 3)},
    ],
)
def test_a_wrong_declaration_is_refused(options: dict[str, object]) -> None:
    app = Windlass("memory://")
    with pytest.raises(InvalidOption):
        app.task(**options)(lambda: None)  # type: ignore[call-overload]
    assert len(app.registry) == 0
