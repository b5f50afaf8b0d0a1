"""An app on each embedded store."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.app.engines import sqlite_in
from windlass import Windlass


@pytest.fixture(params=["memory", "sqlite"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return "memory://" if request.param == "memory" else sqlite_in(tmp_path)


@pytest.fixture
async def app(url: str) -> AsyncIterator[Windlass]:
    app = Windlass(url)
    yield app
    await app.aclose()
    app.close()
