"""An app on each embedded store."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.worker.database import copied_to
from windlass import Windlass
from windlass.worker import fetcher


@pytest.fixture(params=["memory", "sqlite"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return "memory://" if request.param == "memory" else copied_to(tmp_path / "jobs.db")


@pytest.fixture
async def app(url: str) -> AsyncIterator[Windlass]:
    app = Windlass(url)
    yield app
    await app.aclose()
    app.close()


@pytest.fixture
def never_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """An idle worker sleeps until it is woken: without a wake-up no job would start in time."""
    monkeypatch.setattr(fetcher, "LONGEST_WAIT", 600.0)
