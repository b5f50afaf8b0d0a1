"""A job of a group costs the same whether few groups wait or many."""

from collections.abc import Sequence
from typing import Any

import pytest

from tests.servers.server import Server
from tests.stores import site
from tests.stores.mysql.site import emptied
from windlass.core.ids import new_id
from windlass.core.model import NewJob, Spec
from windlass.limits.fairness import SLOT
from windlass.stores.sql import groups
from windlass.stores.sql.store import SqlStore
from windlass.testing.jobs import claim, ids, new_job

MANY = 5 * SLOT


def of_group(group: str) -> NewJob:
    return new_job(new_id(), Spec("work", b"", group=group), fresh=True)


@pytest.fixture(params=["sqlite", "mariadb"])
def url(request: pytest.FixtureRequest) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{request.getfixturevalue('tmp_path')}/jobs.db"
    server: Server = request.getfixturevalue("mariadb_server")
    return emptied(server.url)


async def test_full_slots_are_not_looked_at_one_by_one(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[int] = []
    read = groups._read

    def counted(queue: str, slots: Sequence[int], seen: Any) -> Any:
        looks.append(len(slots))
        return read(queue, slots, seen)

    monkeypatch.setattr(groups, "_read", counted)
    async with site.opened(url, SqlStore) as store:  # type: ignore[type-abstract]
        first = [of_group(f"g{n}") for n in range(MANY)]
        for start in range(0, MANY, 1000):
            await store.insert(first[start : start + 1000])
        looks.clear()
        late = of_group("late")
        await store.insert([late])
        assert len(looks) <= 5
        seen: list[str] = []
        while some := await claim(store, 1000):
            seen += ids(some)
        assert seen == [job.id for job in [*first, late]]
