"""A new database of SQLite, made once and then copied: to make one takes as long as a test."""

import asyncio
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from windlass.stores.open import open_store


def copied_to(path: Path) -> str:
    """Have a database without jobs there; the URL of its store."""
    path.write_bytes(_new())
    return f"sqlite:///{path}"


@cache
def _new() -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder, "jobs.db")

        async def make() -> None:
            store = open_store(f"sqlite:///{path}")
            await store.open()
            await store.close()

        asyncio.run(make())
        return path.read_bytes()
