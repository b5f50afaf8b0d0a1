"""A store in memory whose time the test moves."""

import pytest

from windlass.stores.memory import MemoryStore
from windlass.testing.clock import FakeClock


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def store(clock: FakeClock) -> MemoryStore:
    return MemoryStore(clock)
