"""What a supervisor knows of the files that its workers have loaded."""

import asyncio
from pathlib import Path

from windlass.worker.supervisor.note import Note, decode, encode
from windlass.worker.supervisor.sources import Sources, signed


async def test_a_file_that_changed_before_it_was_heard_of_is_noticed(tmp_path: Path) -> None:
    file = tmp_path / "app.py"
    file.write_text("one = 1\n")
    told = encode(Note("files", files=signed([str(file)])))
    file.write_text("one, two = 1, 2\n")
    sources = Sources()
    sources.add(decode(told).files)
    async with asyncio.timeout(5):
        assert await sources.changed() == [str(file)]


async def test_a_file_that_has_not_changed_is_not_named(tmp_path: Path) -> None:
    same, other = tmp_path / "same.py", tmp_path / "other.py"
    same.write_text("")
    other.write_text("")
    sources = Sources()
    sources.add(signed([str(same), str(other)]))
    other.write_text("changed = True\n")
    async with asyncio.timeout(5):
        assert await sources.changed() == [str(other)]
