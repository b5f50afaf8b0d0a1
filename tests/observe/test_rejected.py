"""Observers are told of jobs that the store did not take."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from windlass import Windlass
from windlass.errors import UnknownJob

from .conftest import Notes


async def test_of_each_job_of_a_call_that_was_refused(app: Windlass, notes: Notes) -> None:
    @app.task
    async def orphan() -> None: ...

    with pytest.raises(UnknownJob):
        await app.aenqueue_many([orphan.call(), orphan.using(depends_on=["nobody"]).call()])
    with pytest.raises(UnknownJob):
        await asyncio.to_thread(orphan.using(depends_on=["nobody"]).enqueue)
    assert [type(error) for _, error in notes["rejected"]] == [UnknownJob] * 3
    told = [job.id for job in notes["enqueuing"]]
    assert [job.id for job, _ in notes["rejected"]] == told
    assert not notes["enqueued"]


async def test_of_a_job_over_a_connection_that_cannot_be_used(tmp_path: Path) -> None:
    app, notes = Windlass(f"sqlite:///{tmp_path}/jobs.db"), Notes()
    app.observe(notes)

    @app.task
    async def any() -> None: ...

    closed = sqlite3.connect(tmp_path / "jobs.db")
    closed.close()
    with pytest.raises(sqlite3.ProgrammingError):
        await any.using(connection=closed).aenqueue()
    with pytest.raises(sqlite3.ProgrammingError):
        await asyncio.to_thread(any.using(connection=closed).enqueue)
    assert len(notes["rejected"]) == 2
    await app.aclose()
