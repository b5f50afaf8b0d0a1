"""A relative path of a file is that of the folder in which the app was made."""

import asyncio
from pathlib import Path

import pytest

from windlass import Context, State, Windlass
from windlass.testing.work import work


@pytest.mark.parametrize("name", ["jobs.db", "50%25 #1.db?synchronous=full"])
async def test_a_process_that_changes_its_folder_stays_with_its_file(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = tmp_path / "first 1%", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    monkeypatch.chdir(first)
    app = Windlass(f"sqlite:///{name}")

    @app.task
    async def plain() -> None: ...

    @app.task(context=True)
    def moving(context: Context) -> str:
        monkeypatch.chdir(second)
        id = plain.enqueue().id
        with context.transaction() as connection:
            connection.execute("SELECT count(*) FROM windlass_jobs")
        return id

    job = await moving.aenqueue()
    await work(app)
    assert (await job.aget()).state is State.COMPLETED
    await asyncio.to_thread(plain.enqueue)
    assert not [*second.iterdir()]
    await app.aclose()
    app.close()
