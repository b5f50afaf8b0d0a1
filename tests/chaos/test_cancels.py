"""A short form of what `make soak` does for a minute on each store."""

from pathlib import Path

import pytest

from tests.app.engines import ENGINES, url_of
from tests.chaos.cancels import cancel_in_bulk


@pytest.fixture(params=ENGINES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return url_of(request, tmp_path)


async def test_bulk_cancels_of_a_queue_that_is_worked_on_take_no_slot(url: str) -> None:
    found = await cancel_in_bulk(url, 1, least=20)
    assert found.left == []
    assert found.cancelled >= 20
