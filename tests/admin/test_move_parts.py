"""A move from a store a part of which is away for a while: nothing is left behind."""

import pytest
from msgspec.structs import replace

from windlass.admin.move import move
from windlass.core.model import JobQuery, Page
from windlass.core.states import State
from windlass.stores.memory import MemoryStore
from windlass.sync import drive
from windlass.testing.clock import FakeClock
from windlass.testing.jobs import put, state_of


def test_jobs_that_a_listing_left_out_move_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = FakeClock()
    source, target = MemoryStore(clock), MemoryStore(clock)
    drive(put(source, "there", "away"))
    find, looks = source.find, [0]

    async def find_some(query: JobQuery) -> Page:
        page = await find(query)
        if State.PENDING not in query.states:
            return page
        looks[0] += 1
        if looks[0] > 2:
            return page
        return replace(page, jobs=[job for job in page.jobs if job.id != "away"])

    monkeypatch.setattr(source, "find", find_some)
    report = drive(move(source, target, nap=no_nap))
    assert looks[0] > 2
    assert not report.missing
    for id in ("there", "away"):
        assert drive(state_of(target, id)) is State.PENDING
        assert drive(state_of(source, id)) is None


async def no_nap(seconds: float) -> None:
    """Time does not matter here."""
