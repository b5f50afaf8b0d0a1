"""The life of a background part: it starts, goes on through every failure, and stops."""

import asyncio
import logging
from collections.abc import Callable

import pytest

from windlass.errors import StoreUnavailable
from windlass.service import LONGEST_BACKOFF, Outage, Service
from windlass.testing.work import until

FIRST_BACKOFF = 0.05


class Part(Service):
    """Does what it is told at each start, and then nothing until it is stopped."""

    def __init__(self, *acts: Callable[[], object]) -> None:
        super().__init__()
        self.acts = list(acts)
        self.starts = 0
        self.pauses: list[float] = []

    async def run(self) -> None:
        self.starts += 1
        if self.acts:
            self.acts.pop(0)()
        await asyncio.Event().wait()

    async def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        await super().pause(0.001)


def fail(error: BaseException) -> Callable[[], object]:
    def act() -> None:
        raise error

    return act


async def test_it_runs_until_it_is_stopped() -> None:
    part = Part()
    part.start()
    await until(lambda: part.starts == 1)
    assert not part.stopping
    async with asyncio.timeout(10):
        await part.stop()
    assert part.stopping
    assert part.starts == 1


async def test_stopping_twice_or_before_the_start_is_allowed() -> None:
    part = Part()
    await part.stop()
    other = Part()
    other.start()
    await other.stop()
    await other.stop()
    assert part.starts == 0


async def test_returning_ends_it_for_good() -> None:
    class Short(Part):
        async def run(self) -> None:
            self.starts += 1

    part = Short()
    part.start()
    await until(lambda: part.starts == 1)
    await asyncio.sleep(0.01)
    await part.stop()
    assert (part.starts, part.pauses) == (1, [])


async def test_a_failure_is_logged_and_it_is_started_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    part = Part(fail(ValueError("broken")), fail(KeyError("too")))
    part.start()
    await until(lambda: part.starts == 3)
    await part.stop()
    logged = [(r.levelno, r.getMessage(), r.exc_info is not None) for r in caplog.records]
    assert logged == [(logging.ERROR, "part: failed, starting it again", True)] * 2
    assert "ValueError: broken" in caplog.text


async def test_a_store_that_does_not_answer_is_a_warning_and_not_a_traceback(
    caplog: pytest.LogCaptureFixture,
) -> None:
    part = Part(fail(StoreUnavailable("no answer")))
    part.start()
    await until(lambda: part.starts == 2)
    await part.stop()
    [record] = caplog.records
    assert record.levelno == logging.WARNING
    assert record.exc_info is None
    assert record.getMessage() == "the store did not answer, trying again: no answer"


async def test_parts_that_share_an_outage_tell_it_once_and_that_it_is_over_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    outage = Outage()
    outage.over()
    parts = [Part(*[fail(StoreUnavailable("no answer"))] * 3) for _ in range(6)]
    for part in parts:
        part.outage = outage
        part.start()
    await until(lambda: all(part.starts == 4 for part in parts))
    assert outage.stands
    outage.over()
    outage.over()
    for part in parts:
        await part.stop()
    assert caplog.messages == [
        "the store did not answer, trying again: no answer",
        "the store answers again, after 0 s",
    ]
    assert not outage.stands


async def test_a_part_that_is_halted_says_no_last_words() -> None:
    part = Part()
    part.start()
    await until(lambda: part.starts == 1)
    part.halt()
    assert part.stopping
    async with asyncio.timeout(10):
        await part.stop()


async def test_a_cancellation_from_within_does_not_end_it_in_silence() -> None:
    """Something that it awaited was cancelled, and not the part itself: it must not go deaf."""
    part = Part(fail(asyncio.CancelledError()))
    part.start()
    try:
        await until(lambda: part.starts == 2)
    finally:
        await part.stop()


async def test_the_pauses_between_failures_grow_are_jittered_and_bounded() -> None:
    part = Part(*[fail(ValueError())] * 12)
    part.start()
    await until(lambda: part.starts == 13)
    await part.stop()
    assert len(part.pauses) == 12
    for n, pause in enumerate(part.pauses):
        longest = min(FIRST_BACKOFF * 2**n, LONGEST_BACKOFF)
        assert longest / 2 <= pause <= longest


async def test_one_that_keeps_failing_can_be_stopped_at_once() -> None:
    class Hopeless(Service):
        async def run(self) -> None:
            raise ValueError("again")

    part = Hopeless()
    part.start()
    await asyncio.sleep(0.2)
    async with asyncio.timeout(10):
        await part.stop()


async def test_a_pause_ends_with_its_time_or_at_once_when_the_part_is_to_stop() -> None:
    class Sleeper(Service):
        def __init__(self) -> None:
            super().__init__()
            self.naps = 0

        async def run(self) -> None:
            await self.pause(0.001)
            self.naps += 1
            await self.pause(3600)

    part = Sleeper()
    part.start()
    await until(lambda: part.naps == 1)
    async with asyncio.timeout(10):
        await part.stop()
        await part.pause(3600)


async def test_stopping_waits_for_the_end_of_what_is_cleaned_up() -> None:
    ended = []

    class Tidy(Service):
        async def run(self) -> None:
            try:
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(0.01)
                ended.append(True)

    part = Tidy()
    part.start()
    await asyncio.sleep(0)
    await part.stop()
    assert ended == [True]


async def test_its_name_is_on_its_task() -> None:
    part = Part()
    part.start()
    names = {task.get_name() for task in asyncio.all_tasks()}
    await part.stop()
    assert part.name == "part"
    assert "windlass-part" in names
