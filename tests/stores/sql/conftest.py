"""One engine after the other."""

import pytest

from tests.stores.sql.engine import ENGINES, Engine


@pytest.fixture(scope="module", params=ENGINES)
def name(request: pytest.FixtureRequest) -> str:
    """What the fixtures of an engine's servers begin with."""
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def engine(name: str) -> Engine:
    return ENGINES[name]
