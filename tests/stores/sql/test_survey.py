"""Looks at lanes that a server has: what they cost is bounded."""

import pytest

from tests.servers.server import Server
from tests.stores.sql.engine import Engine
from windlass.core.lane import Lane
from windlass.core.model import Spec
from windlass.stores.sql import survey
from windlass.testing.jobs import claim, put


async def test_a_lane_has_at_least_as_many_jobs_as_are_counted(
    name: str, engine: Engine, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    server: Server = request.getfixturevalue(f"{name}_server")
    monkeypatch.setattr(survey, "MOST_COUNTED", 3)
    async with engine.opened(engine.emptied(server.url)) as store:
        for lane, number in (("two", 2), ("three", 3), ("many", 9)):
            jobs = [f"{lane}-{n}" for n in range(number)]
            waiting = [f"{job}-waits" for job in jobs]
            await put(store, *jobs, *waiting, spec=Spec("w", b"", lane=Lane(lane, slots=number)))
        assert len(await claim(store, 7)) == 7
        counted = {each.lane.name: each for each in (await store.lanes(10)).lanes}
        assert {name: (each.holders, each.waiting) for name, each in counted.items()} == {
            "two": (2, 2),
            "three": (3, 3),
            "many": (3, 3),
        }
