"""Giving a job another time by its handle."""

from datetime import UTC, datetime, timedelta

import pytest

from windlass import Windlass
from windlass.core.states import State
from windlass.errors import InvalidOption, UnknownJob, WrongState
from windlass.testing.work import work


async def test_a_job_can_be_put_off_and_brought_forward(app: Windlass) -> None:
    ran: list[str] = []

    @app.task
    async def note() -> None:
        ran.append("x")

    job = await note.aenqueue()
    await job.areschedule(timedelta(hours=1))
    await work(app)
    assert ran == [] and (await job.aget()).state is State.SCHEDULED
    await job.areschedule()
    await work(app)
    assert ran == ["x"]


async def test_it_can_be_given_a_moment(app: Windlass) -> None:
    @app.task
    async def note() -> None: ...

    job = await note.aenqueue()
    moment = datetime(2040, 1, 1, tzinfo=UTC)
    await job.areschedule(at=moment)
    assert (await job.aget()).due == moment.timestamp() * 1000


def test_blocking_code_can_do_it_too(url: str) -> None:
    app = Windlass(url)

    @app.task
    def note() -> None: ...

    job = note.enqueue()
    job.reschedule(3600)
    assert job.get().state is State.SCHEDULED
    app.close()


async def test_what_cannot_be_is_refused_in_a_sentence(app: Windlass) -> None:
    @app.task
    async def note() -> None: ...

    job = await note.aenqueue()
    with pytest.raises(InvalidOption, match="0 or more"):
        await job.areschedule(-1)
    with pytest.raises(InvalidOption, match="time zone"):
        await job.areschedule(at=datetime(2040, 1, 1))
    await job.acancel()
    with pytest.raises(WrongState, match="cannot be rescheduled: it is cancelled"):
        await job.areschedule(5)
    with pytest.raises(UnknownJob):
        await note.handle("nobody").areschedule(5)
