"""Several are asked at once: one that is down holds up nobody, and counts again when it is back."""

import asyncio
import gc
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import pytest

from windlass.errors import CorruptRecord, StoreUnavailable
from windlass.stores.redis.errands import Errands
from windlass.stores.redis.lookout import Lookout
from windlass.stores.redis.together import together
from windlass.sync import drive
from windlass.testing.work import until

Ask = Callable[[int], Coroutine[Any, Any, int]]

LIMIT = 0.05


class Shards:
    """Answer with their own number, unless they are held up or broken."""

    def __init__(self) -> None:
        self.asked: Counter[int] = Counter()
        self.held: dict[int, asyncio.Event] = {}
        self.broken: dict[int, Exception] = {}
        self.tasks: set[asyncio.Task[Any] | None] = set()

    async def answer(self, number: int) -> int:
        self.asked[number] += 1
        self.tasks.add(asyncio.current_task())
        if number in self.held:
            await self.held[number].wait()
        if number in self.broken:
            raise self.broken[number]
        return number

    def hold(self, *numbers: int) -> None:
        for number in numbers:
            self.held[number] = asyncio.Event()

    def release(self, number: int) -> None:
        self.held.pop(number).set()


@pytest.fixture
def shards() -> Shards:
    return Shards()


@pytest.fixture
async def errands() -> AsyncIterator[Errands]:
    errands = Errands(blocking=False)
    yield errands
    await errands.stop()


@pytest.fixture
def lookout(errands: Errands) -> Lookout:
    return Lookout(4, errands, patience=1.0, blocking=False)


async def test_all_that_are_there_answer(lookout: Lookout, shards: Shards) -> None:
    assert await lookout.ask([0, 2, 3], shards.answer, LIMIT) == {0: 0, 2: 2, 3: 3}
    assert await lookout.ask([], shards.answer, LIMIT) == {}


async def test_one_that_hangs_is_asked_once_and_holds_up_nobody(
    lookout: Lookout, shards: Shards, caplog: pytest.LogCaptureFixture
) -> None:
    shards.hold(1)
    for _ in range(3):
        assert await lookout.ask([0, 1, 2], shards.answer, LIMIT) == {0: 0, 2: 2}
    assert shards.asked == {0: 3, 1: 1, 2: 3}
    assert lookout.is_silent(1) and not lookout.is_silent(0)
    assert caplog.messages == [
        "1 of the store's 4 parts do not answer, and the queues there wait: no reply so far"
    ]


async def test_its_answer_makes_it_count_again(lookout: Lookout, shards: Shards) -> None:
    shards.hold(1)
    assert await lookout.ask([0, 1], shards.answer, LIMIT) == {0: 0}
    shards.release(1)
    await until(lambda: not lookout.is_silent(1))
    assert await lookout.ask([0, 1], shards.answer, LIMIT) == {0: 0, 1: 1}


async def test_one_that_failed_is_asked_again_in_the_background(
    lookout: Lookout, shards: Shards
) -> None:
    shards.broken[1] = StoreUnavailable("down")
    for times in (1, 2, 3):
        assert await lookout.ask([0, 1], shards.answer, LIMIT) == {0: 0}
        await until(lambda: shards.asked[1] == times)  # noqa: B023
    del shards.broken[1]
    await lookout.ask([0, 1], shards.answer, LIMIT)
    await until(lambda: not lookout.is_silent(1))


async def test_callers_at_the_same_time_do_not_make_one_silent(
    lookout: Lookout, shards: Shards
) -> None:
    answers = await asyncio.gather(*(lookout.ask([0, 1], shards.answer, LIMIT) for _ in range(20)))
    assert answers == [{0: 0, 1: 1}] * 20


async def test_if_none_answers_in_time_the_first_that_does_is_waited_for(
    lookout: Lookout, shards: Shards
) -> None:
    shards.hold(0, 1)
    asking = asyncio.create_task(lookout.ask([0, 1], shards.answer, LIMIT))
    await until(lambda: lookout.is_silent(0))
    assert not asking.done()
    shards.release(1)
    assert await asking == {1: 1}


async def test_if_all_fail_the_reason_is_raised(lookout: Lookout, shards: Shards) -> None:
    shards.broken = {0: StoreUnavailable("this is down"), 1: StoreUnavailable("this is down")}
    for _ in range(2):
        with pytest.raises(StoreUnavailable, match="this is down"):
            await lookout.ask([0, 1], shards.answer, LIMIT)


async def test_who_does_not_insist_is_told_soon_that_nobody_has_been_there(
    lookout: Lookout, shards: Shards
) -> None:
    shards.hold(1)
    await lookout.ask([0, 1], shards.answer, LIMIT)
    with pytest.raises(StoreUnavailable, match="does not answer"):
        await lookout.ask([1], shards.answer, LIMIT, insist=False)
    shards.release(1)
    assert await lookout.ask([1], shards.answer, LIMIT, insist=False) == {1: 1}


async def test_a_fault_of_another_kind_is_raised_and_does_not_make_silent(
    lookout: Lookout, shards: Shards
) -> None:
    shards.broken[1] = CorruptRecord("damaged")
    with pytest.raises(CorruptRecord):
        await lookout.ask([0, 1], shards.answer, LIMIT)
    assert not lookout.is_silent(1)


async def test_while_the_event_loop_stood_still_nobody_was_silent(
    lookout: Lookout, shards: Shards
) -> None:
    loop = asyncio.get_running_loop()
    shards.hold(0, 1)
    loop.call_later(0.01, time.sleep, 2 * LIMIT)
    for number, delay in ((0, 0.011), (1, 0.012)):
        loop.call_later(delay, shards.release, number)
    assert await lookout.ask([0, 1], shards.answer, LIMIT) == {0: 0, 1: 1}


async def test_one_shard_is_asked_without_a_task(errands: Errands, shards: Shards) -> None:
    assert await Lookout(1, errands, patience=1.0, blocking=False).ask([0], shards.answer) == {0: 0}
    assert shards.tasks == {asyncio.current_task()}


def test_a_blocking_store_asks_one_after_the_other() -> None:
    lookout = Lookout(3, Errands(blocking=True), patience=1.0, blocking=True)

    async def answer(number: int) -> int:
        if number != 2:
            raise StoreUnavailable("down")
        return number

    assert drive(lookout.ask([0, 1, 2], answer)) == {2: 2}
    with pytest.raises(StoreUnavailable):
        drive(lookout.ask([0, 1], answer))


async def test_who_gives_up_leaves_nothing_behind(
    lookout: Lookout, errands: Errands, shards: Shards
) -> None:
    shards.hold(0, 1)
    asking = asyncio.create_task(lookout.ask([0, 1], shards.answer, 20.0))
    await until(lambda: shards.asked.total() == 2)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await until(lambda: all(task is None or task.done() for task in shards.tasks))
    assert not lookout.is_silent(0)


async def test_stopping_ends_all_and_no_failure_makes_a_noise(
    lookout: Lookout, errands: Errands, shards: Shards
) -> None:
    complaints: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
    shards.hold(1)
    shards.broken[2] = StoreUnavailable("down")
    for _ in range(2):
        await lookout.ask([0, 1, 2], shards.answer, LIMIT)
    await errands.stop()
    assert all(task is None or task.done() for task in shards.tasks - {asyncio.current_task()})
    shards.tasks.clear()
    del lookout
    gc.collect()
    await asyncio.sleep(0)
    assert complaints == []


async def test_work_in_the_background_is_not_waited_for_and_its_failure_is_logged(
    errands: Errands, caplog: pytest.LogCaptureFixture
) -> None:
    go_on = asyncio.Event()

    async def work() -> None:
        await go_on.wait()
        raise StoreUnavailable("it is down")

    await errands.run("something", [work()], LIMIT)
    assert caplog.messages == []
    go_on.set()
    await until(lambda: caplog.messages == ["something: it is down"])


def test_calls_that_come_to_nothing_leave_nothing_behind() -> None:
    async def fails() -> int:
        raise StoreUnavailable("no answer")

    async def comes_after() -> int:
        raise AssertionError("it is not made")

    with pytest.raises(StoreUnavailable):
        drive(together([fails(), comes_after()]))
    # A coroutine that was never awaited warns here, and a warning fails a test.
    gc.collect()
