"""The fixtures that the conformance suite asks for, once for each store."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.conformance.place import Place
from tests.conformance.stores import EXEMPT, STORES, is_kept_open, maker, stores_of
from windlass.stores.contract import Store
from windlass.testing.clock import FakeClock


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "place" in metafunc.fixturenames:
        asked_for = metafunc.config.getoption("stores")
        check = metafunc.definition.name.removeprefix("test_")
        stores = [name for name in stores_of(check) if name in (asked_for or STORES)]
        metafunc.parametrize("place", stores, indirect=True)


@pytest.fixture(scope="module")
async def kept_open() -> AsyncIterator[dict[str, Place]]:
    """The places whose stores stay open from check to check, by the name of the store."""
    places: dict[str, Place] = {}
    yield places
    async with AsyncExitStack() as stack:
        for place in places.values():
            stack.push_async_callback(place.close)


@pytest.fixture
async def place(
    request: pytest.FixtureRequest, tmp_path: Path, kept_open: dict[str, Place]
) -> AsyncIterator[Place]:
    name, check = request.param, request.node.originalname.removeprefix("test_")
    reason = EXEMPT.get((name, check))
    if reason is not None:
        request.applymarker(pytest.mark.xfail(reason=reason, raises=AssertionError, strict=True))
    place = kept_open.pop(name, None) if is_kept_open(name, check) else None
    if place is None:
        place = Place(maker(name, request), tmp_path)
    await place.empty()
    failures = request.session.testsfailed
    yield place
    if is_kept_open(name, check) and request.session.testsfailed == failures:
        kept_open[name] = place
    else:
        await place.close()


@pytest.fixture(scope="session")
def anyio_backend() -> tuple[str, dict[str, bool]]:
    """On the event loop that a worker has; the other tests run on that of asyncio."""
    return "asyncio", {"use_uvloop": True}


@pytest.fixture
def clock(place: Place) -> FakeClock:
    return place.clock


@pytest.fixture
async def store(place: Place) -> Store:
    return place.store


@pytest.fixture
async def another_store(place: Place) -> Store:
    return await place.open_another()
