"""A blocking handler is stopped wherever it is: no lock, transaction or connection stays behind.

A short form of what `make soak` does ten thousand times.
"""

import pytest

from tests.chaos.stops import Stops
from tests.servers.emptied import emptied_database, emptied_schema
from windlass.core.ids import new_id

STOPS = 150


@pytest.fixture(params=["sqlite", "redis", "postgres", "mariadb"])
def place(request: pytest.FixtureRequest, tmp_path: object) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/jobs.db"
    server: str = request.getfixturevalue(f"{request.param}_server").url
    match request.param:
        case "postgres":
            return emptied_schema(server, "stops")
        case "mariadb":
            return emptied_database(server, "stops")
    return f"{server}?namespace={new_id()}"


async def test_handlers_that_are_stopped_again_and_again_leave_nothing_behind(place: str) -> None:
    assert await Stops(place).run(STOPS) == []
