"""The fixtures that the conformance suite asks for, once for each store."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.conformance.stores import EXEMPT, Handle, maker, stores_of
from windlass.stores.contract import Store
from windlass.testing.clock import FakeClock


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "handle" in metafunc.fixturenames:
        stores = stores_of(metafunc.definition.name.removeprefix("test_"))
        metafunc.parametrize("handle", stores, indirect=True)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def handle(request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock) -> Handle:
    reason = EXEMPT.get((request.param, request.node.originalname.removeprefix("test_")))
    if reason is not None:
        request.applymarker(pytest.mark.xfail(reason=reason, raises=AssertionError, strict=True))
    return maker(request.param, request)(tmp_path, clock)


@pytest.fixture
async def store(handle: Handle) -> AsyncIterator[Store]:
    store = handle()
    await store.open()
    yield store
    await store.close()


@pytest.fixture
async def another_store(store: Store, handle: Handle) -> AsyncIterator[Store]:
    another = handle()
    if another is not store:
        await another.open()
    yield another
    await another.close()
