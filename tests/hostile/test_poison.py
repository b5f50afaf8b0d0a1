"""Jobs that somebody wrote over, below the contract: a worker goes on, and says what it found."""

import pytest

from tests.hostile.engines import ENGINES
from windlass import State, Windlass
from windlass.admin.change import change_jobs, delete
from windlass.admin.doctor import diagnose, examine
from windlass.admin.record import full_record
from windlass.config import WorkerSettings
from windlass.core.clock import system_clock
from windlass.core.model import JobQuery
from windlass.testing.jobs import job_of
from windlass.testing.work import work


@pytest.mark.parametrize("engine", ENGINES)
async def test_poison_stops_no_worker(engine: str, request: pytest.FixtureRequest) -> None:
    place = ENGINES[engine](request)
    app = Windlass(place.url)

    @app.task(max_retries=0)
    async def fine() -> str:
        return "fine"

    store = await app.client.store()
    harms = [*place.deadly, *place.harmless]
    harmed = {f"harmed-{n}": harm for n, harm in enumerate(harms)}
    for id in ("before", *harmed, "after"):
        await fine.using(id=id).aenqueue()
    place.poison(harmed)
    await store.find(JobQuery())
    await work(app, WorkerSettings(concurrency=1), timeout=60)
    for id in ("before", "after"):
        assert (await job_of(store, id)).state is State.COMPLETED
    found = await store.get(list(harmed))
    for id, harm in harmed.items():
        if harm in place.deadly:
            error = found[id].error
            assert (found[id].state, error and error.kind) == (State.DEAD, "CorruptRecord"), harm
        elif id in found:  # one that is not kept is gone once it is completed
            assert found[id].state in (State.COMPLETED, State.DEAD), harm
            assert full_record(found[id], app.codecs).id == id
    assert len(found) >= len(harms) - 10
    assert not any(each.is_fault for each in diagnose(await examine(store, system_clock)))
    await app.aclose()


@pytest.mark.parametrize("engine", ["sqlite", "postgres", "mariadb"])
async def test_what_is_in_no_state_that_there_is_is_left_alone_told_of_and_deleted(
    engine: str, request: pytest.FixtureRequest
) -> None:
    place = ENGINES[engine](request)
    app = Windlass(place.url)

    @app.task
    async def fine() -> None: ...

    store = await app.client.store()
    hidden = {f"hidden-{n}": harm for n, harm in enumerate(place.hiding)}
    for id in ("before", *hidden, "after"):
        await fine.using(id=id).aenqueue()
    place.poison(hidden)
    worker = await app.worker(WorkerSettings(concurrency=1))
    await worker.start()
    for id in ("before", "after"):
        await app.job(id).aresult(timeout=20)
    await worker.stop()
    assert await store.get(list(hidden)) == {}
    told = [each for each in diagnose(await examine(store, system_clock)) if each.is_fault]
    assert [each.kind for each in told] == ["counter"]
    assert f"says {len(hidden)} pending jobs and has 0" in told[0].text
    assert set((await change_jobs(store, delete(), list(hidden))).changed) == set(hidden)
    await app.aclose()
