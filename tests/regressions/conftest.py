"""A store and an app on each embedded engine, on a clock that a test moves."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.worker.database import copied_to
from windlass import Windlass
from windlass.scheduler.leader import Leader
from windlass.scheduler.rescuer import Rescuer
from windlass.stores.contract import Store
from windlass.testing.clock import FakeClock


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(params=["memory", "sqlite"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return "memory://" if request.param == "memory" else copied_to(tmp_path / "jobs.db")


@pytest.fixture
async def app(url: str, clock: FakeClock) -> AsyncIterator[Windlass]:
    """On the clock of the test: nothing becomes due, and no lease ends, by itself."""
    app = Windlass(url, clock=clock)
    yield app
    await app.aclose()


@pytest.fixture
async def live(url: str) -> AsyncIterator[Windlass]:
    """On the clock of the machine."""
    app = Windlass(url)
    yield app
    await app.aclose()
    app.close()


@pytest.fixture
async def store(app: Windlass) -> Store:
    return await app.client.store()


@pytest.fixture
async def rescuer(app: Windlass, store: Store) -> Rescuer:
    """What finds the jobs of workers that are gone."""
    return Rescuer(store, app.registry, Leader(store, "me"), 5.0, "rescuer")
