"""The context of an attempt, and where there is none."""

import asyncio
import contextvars
import threading

import pytest

from windlass.core.context import Context, current, current_context, local_context
from windlass.core.model import Job, Spec
from windlass.core.states import State
from windlass.errors import UsageError


def context(id: str, attempt: int = 1, fence: int = 1) -> Context:
    return Context(Job(id, Spec("t", b""), "q", State.ACTIVE, 50, 0, 0, attempt, fence))


def test_it_tells_which_job_attempt_and_fence_it_is() -> None:
    present = context("a", attempt=2, fence=9)
    assert (present.id, present.attempt, present.fence) == ("a", 2, 9)
    assert present.job.queue == "q"


def test_it_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        context("a").job = context("b").job  # type: ignore[misc]


def test_outside_a_job_there_is_none_and_the_error_says_so() -> None:
    def ask() -> None:
        with pytest.raises(UsageError, match="not started by a worker"):
            current_context()

    contextvars.Context().run(ask)


async def test_two_jobs_on_one_event_loop_each_see_their_own() -> None:
    meet = asyncio.Barrier(2)

    async def handler(mine: Context) -> Context:
        current.set(mine)
        await meet.wait()
        return current_context()

    one, two = context("one"), context("two")
    seen = await asyncio.gather(handler(one), handler(two))
    assert list(seen) == [one, two]
    with pytest.raises(UsageError):
        current_context()


def test_a_new_thread_has_none_of_it() -> None:
    seen: list[str] = []

    def look() -> None:
        try:
            seen.append(current_context().id)
        except UsageError:
            seen.append("none")

    token = current.set(context("mine"))
    try:
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        assert current_context().id == "mine"
    finally:
        current.reset(token)
    assert seen == ["none"]


def test_a_function_that_is_called_directly_gets_a_first_attempt_of_its_own() -> None:
    one, two = local_context("send"), local_context("send")
    assert (one.job.task, one.attempt, one.fence) == ("send", 1, 0)
    assert one.id != two.id
