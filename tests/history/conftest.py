"""History on every engine that can keep it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.history.engines import ENGINES, fresh_url
from windlass.history.archive import Archive
from windlass.history.open import open_archive
from windlass.testing.clock import FakeClock


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(params=ENGINES)
def history_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database without anything in it."""
    return fresh_url(request.param, request, tmp_path)


@pytest.fixture
async def archive(history_url: str, clock: FakeClock) -> AsyncIterator[Archive]:
    archive = open_archive(history_url, clock=clock)
    await archive.open()
    yield archive
    await archive.close()
