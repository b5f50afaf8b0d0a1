"""A SQLite file, and stores on it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from windlass.stores.contract import Store
from windlass.stores.open import open_store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "jobs.db"


@pytest.fixture
def url(path: Path) -> str:
    return f"sqlite:///{path}"


@pytest.fixture
async def store(url: str) -> AsyncIterator[Store]:
    store = open_store(url)
    await store.open()
    yield store
    await store.close()
