"""Jobs that come too late are called off instead of started."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from windlass import Retry, State, Windlass
from windlass.core.clock import to_datetime
from windlass.core.outcome import EXPIRED
from windlass.errors import InvalidOption, JobCancelled
from windlass.testing.clock import FakeClock
from windlass.testing.work import work


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def app(url: str, clock: FakeClock) -> AsyncIterator[Windlass]:
    app = Windlass(url, clock=clock)
    yield app
    await app.aclose()


async def test_an_expired_job_is_cancelled_without_an_attempt(
    app: Windlass, clock: FakeClock
) -> None:
    ran: list[int] = []

    @app.task(expires_in=60)
    async def offer(number: int) -> None:
        ran.append(number)

    late = await offer.aenqueue(1)
    clock.advance(60)
    in_time = await offer.using(expires_in=None).aenqueue(2)
    just = await offer.using(expires_at=to_datetime(clock())).aenqueue(3)
    clock.advance(0.001)
    missed = await offer.using(expires_at=to_datetime(clock() - 1)).aenqueue(4)
    await work(app)
    assert ran == [2]
    assert (await in_time.aget()).state is State.COMPLETED
    for job in (late, just, missed):
        found = await job.aget()
        assert (found.state, found.attempt, found.error) == (State.CANCELLED, 0, EXPIRED)
    with pytest.raises(JobCancelled, match="was cancelled: no worker could start it before"):
        await late.aresult()


async def test_at_its_last_moment_a_job_still_starts(app: Windlass, clock: FakeClock) -> None:
    @app.task(expires_in=60)
    async def offer() -> str:
        return "taken"

    job = await offer.aenqueue()
    clock.advance(60)
    await work(app)
    assert await job.aresult() == "taken"


async def test_a_retry_is_not_started_after_the_job_has_expired(
    app: Windlass, clock: FakeClock
) -> None:
    attempts: list[int] = []

    @app.task(expires_in=timedelta(seconds=60))
    async def offer() -> None:
        attempts.append(1)
        raise Retry(after=120)

    job = await offer.aenqueue()
    await work(app)
    assert (await job.aget()).state is State.RETRY
    clock.advance(120)
    await work(app)
    found = await job.aget()
    assert (found.state, found.attempt, found.error) == (State.CANCELLED, 1, EXPIRED)
    assert len(attempts) == 1


async def test_the_earlier_of_two_expiries_counts(app: Windlass, clock: FakeClock) -> None:
    @app.task(expires_in=60)
    async def offer() -> None: ...

    soon = await offer.using(expires_at=to_datetime(clock() + 1_000)).aenqueue()
    later = await offer.using(expires_at=to_datetime(clock() + 100_000)).aenqueue()
    assert (await soon.aget()).expires_at == clock() + 1_000
    assert (await later.aget()).expires_at == clock() + 60_000


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"expires_in": 0}, "expires_in must be above 0"),
        ({"expires_in": -1}, "expires_in must be a finite number of seconds"),
        ({"expires_at": 5}, "expires_at takes a datetime with a time zone"),
    ],
)
def test_what_is_no_expiry_is_refused(options: dict[str, int], sentence: str) -> None:
    app = Windlass("memory://")

    @app.task
    async def offer() -> None: ...

    with pytest.raises(InvalidOption, match=sentence):
        offer.using(**options)  # type: ignore[arg-type]
