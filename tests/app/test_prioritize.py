"""Giving a job another priority by its handle, and reading what its attempts left."""

import pytest

from windlass import AttemptRecord, Windlass
from windlass.errors import InvalidOption, UnknownJob, WrongState
from windlass.testing.work import work


async def test_a_job_is_run_before_others_once_it_is_more_urgent(app: Windlass) -> None:
    ran: list[int] = []

    @app.task
    async def note(n: int) -> None:
        ran.append(n)

    jobs = await app.aenqueue_many([note.call(n) for n in range(3)])
    await jobs[2].aprioritize("high")
    await jobs[0].aprioritize(10)
    await work(app)
    assert ran == [2, 1, 0]


def test_blocking_code_can_do_it_too(url: str) -> None:
    app = Windlass(url)

    @app.task
    def note() -> None: ...

    job = note.enqueue()
    job.prioritize(99)
    assert job.get().priority == 99
    assert list(job.attempts()) == []
    app.close()


async def test_what_cannot_be_is_refused_in_a_sentence(app: Windlass) -> None:
    @app.task
    async def note() -> None: ...

    job = await note.aenqueue()
    with pytest.raises(InvalidOption, match="0 to 100"):
        await job.aprioritize(101)
    await job.acancel()
    with pytest.raises(WrongState, match="cannot be prioritized: it is cancelled"):
        await job.aprioritize(5)
    with pytest.raises(UnknownJob):
        await note.handle("nobody").aprioritize(5)


async def test_what_was_kept_of_attempts_comes_oldest_first(app: Windlass) -> None:
    @app.task
    async def note() -> None: ...

    job = await note.aenqueue()
    assert list(await job.aattempts()) == []
    records = [AttemptRecord(job.id, "default", n, n, "w", n) for n in (1, 2)]
    await (await app.client.store()).note_attempts(records[::-1], 60_000)
    assert list(await job.aattempts()) == records
