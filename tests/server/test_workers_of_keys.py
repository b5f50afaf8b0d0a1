"""What a worker tells a server counts for its own key: beats, leaving, counts, and the upkeep."""

import asyncio
import logging
from typing import Any

import pytest
from msgspec.structs import replace

from tests.remote.conftest import call, with_key
from tests.remote.samples import WORKER
from tests.server.conftest import Serve
from tests.server.serving import Served
from windlass import Windlass
from windlass.config import WorkerSettings
from windlass.core.apikey import new_key
from windlass.core.model import NewJob, Spec
from windlass.core.schedule import Schedule
from windlass.core.states import State
from windlass.core.stats import FINE, Tally
from windlass.errors import Forbidden, InvalidOption
from windlass.server.caller import Caller, caller_of
from windlass.server.site import Site

MAIL = with_key("read", "work", "operate", queues=("mail",))
BANK = with_key("read", "work", "operate", queues=("bank",))
OTHER = with_key("read", "work")
HOURLY = Schedule("hourly", "0 * * * *", Spec("x", b""), queue="bank")

UPKEEP: dict[str, dict[str, Any]] = {
    "rescue": {"limit": 1, "lease": 1_000, "worker": "w"},
    "prune": {"limit": 1},
    "unblock": {"limit": 1},
    "resign": {"role": "upkeep", "holder": "leader"},
    "tick": {"schedule": HOURLY, "tick": 1},
}


@pytest.fixture
def site(bare: Served) -> Site:
    return bare.site


async def listed(site: Site) -> dict[str, tuple[str, ...]]:
    return {worker.id: worker.queues for worker in await site.store.workers()}


@pytest.mark.parametrize("caller", [MAIL, OTHER], ids=["bound", "unbound"])
@pytest.mark.parametrize("by", [BANK, None], ids=["key", "store"])
async def test_nobody_speaks_for_the_worker_of_another(
    site: Site, caller: Caller, by: Caller | None
) -> None:
    worker = replace(WORKER, id="w", queues=("bank",))
    # What was looked at a moment ago is not believed.
    await call(site, "beat", caller, worker=replace(WORKER, id="mine", queues=("mail",)), ttl=9_000)
    if by is None:
        await site.store.beat(worker, 60_000)
    else:
        await call(site, "beat", by, worker=worker, ttl=60_000)
    with pytest.raises(Forbidden, match="not registered by the key"):
        await call(site, "beat", caller, worker=replace(WORKER, queues=("mail",)), ttl=60_000)
    await call(site, "leave", caller, worker="w")
    assert await call(site, "abandon", caller, worker="w") == 0
    assert await call(site, "direct", MAIL, workers=["w"], order="stop") == frozenset()
    assert (await listed(site))["w"] == ("bank",)
    if by is not None:
        assert await call(site, "beat", by, worker=worker, ttl=60_000) is None
        await call(site, "leave", by, worker="w")
        assert "w" not in await listed(site)


async def test_what_a_client_says_of_the_owner_is_not_believed(site: Site) -> None:
    victim, thief = with_key("work"), with_key("work")
    forged = replace(WORKER, owner=victim.name)
    await call(site, "beat", thief, worker=forged, ttl=60_000)
    with pytest.raises(Forbidden):
        await call(site, "beat", victim, worker=WORKER, ttl=60_000)
    (worker,) = await site.store.workers()
    assert worker.owner == thief.name


async def test_a_beat_does_not_outlive_its_worker_for_long(site: Site) -> None:
    for ttl in (0, 600_001, 2**52):
        with pytest.raises(InvalidOption, match="600,000"):
            await call(site, "beat", OTHER, worker=WORKER, ttl=ttl)


async def test_a_worker_of_every_queue_serves_those_of_its_key(site: Site) -> None:
    caller = with_key("work", queues=("mail", "bills"))
    for id, said, shown in (
        ("one", ("*",), ("bills", "mail")),
        ("two", ("*:3",), ("bills:3", "mail:3")),
        ("three", ("mail:2", "*"), ("mail:2", "bills", "mail")),
    ):
        await call(site, "beat", caller, worker=replace(WORKER, id=id, queues=said), ttl=9_000)
        assert (await listed(site))[id] == shown
    await site.store.insert([NewJob("a", Spec("x", b""), "bank")])
    why = {each.id for each in await site.store.workers() if "bank" in each.queues}
    assert not why


async def test_counts_of_others_are_not_swallowed(site: Site) -> None:
    async def tally(by: Caller | None, number: int, count: int) -> None:
        tallies = [Tally("mail", {"completed": count})]
        if by is None:
            await site.store.tally("w", number, tallies)
        else:
            await call(site, "tally", by, worker="w", number=number, tallies=tallies)

    await tally(MAIL, 2**53 - 1, 1)
    for number in (1, 2):
        await tally(OTHER, number, 10)
        await tally(None, number, 100)
    await tally(OTHER, 2, 10)
    (whole,) = await site.store.stats(["mail"], FINE, 0)
    assert whole.counts == {"completed": 221}


async def test_the_role_that_works_has_no_part_in_the_upkeep(site: Site) -> None:
    leading = with_key("upkeep", "work", "read")
    for caller in (OTHER, MAIL, with_key("work", "enqueue", "operate")):
        term = {"role": "upkeep", "holder": "thief", "ttl": 10_000}
        assert await call(site, "elect", caller, **term) is None
        for name, given in UPKEEP.items():
            with pytest.raises(Forbidden, match="role upkeep"):
                await call(site, name, caller, **given)
    assert await site.store.leaders() == {}
    assert await call(site, "elect", leading, role="upkeep", holder="w", ttl=10_000)
    # What has ended is read by an admin alone.
    assert await call(site, "elect", leading, role="history", holder="w", ttl=10_000) is None


@pytest.mark.parametrize(
    "given",
    [{"ttl": 60_001}, {"ttl": 2**52}, {"ttl": 0}, {"role": "mine"}, {"role": ""}],
    ids=str,
)
async def test_a_leadership_is_one_that_is_known_and_short(
    site: Site, given: dict[str, Any]
) -> None:
    asked = {"role": "upkeep", "holder": "w", "ttl": 10_000} | given
    for role in ("work", "upkeep", "admin"):
        with pytest.raises((InvalidOption, Forbidden)):
            await call(site, "elect", with_key(role), **asked)
    assert await site.store.leaders() == {}


async def test_a_schedule_ticks_when_its_timetable_says_so(site: Site) -> None:
    caller = with_key("upkeep")
    yearly = Schedule("yearly", "0 0 1 1 *", Spec("x", b""), queue="bank")
    minutely = replace(HOURLY, name="minutely", text="@every 1s", missed="skip")
    await site.store.put_schedules([yearly, minutely])
    stored = {each.name: each for each in await site.store.schedules()}
    last, now = stored["yearly"].last, await site.store.now()
    for tick in (last + 1, now, now - 1, now + 60_000):
        assert await call(site, "tick", caller, schedule=stored["yearly"], tick=tick) is None
        # Nor by a timetable of one's own.
        forged = replace(stored["yearly"], text="@every 1s")
        assert await call(site, "tick", caller, schedule=forged, tick=tick // 1000 * 1000) is None
    assert await site.store.queues() == []
    tick = stored["minutely"].timetable.after(stored["minutely"].last)
    async with asyncio.timeout(30):
        while await site.store.now() < tick:
            await asyncio.sleep(0.01)
    receipt = await call(site, "tick", caller, schedule=stored["minutely"], tick=tick)
    assert receipt is not None and not receipt.duplicate
    assert await call(site, "tick", caller, schedule=stored["minutely"], tick=tick) is None


async def test_an_admin_may_put_a_list_in_order(site: Site) -> None:
    await call(site, "beat", OTHER, worker=WORKER, ttl=60_000)
    await call(site, "leave", with_key("admin"), worker="w")
    assert await listed(site) == {}


def test_the_role_of_the_upkeep_is_that_alone() -> None:
    assert caller_of(new_key(["upkeep"]).key).allows == {"upkeep"}


@pytest.mark.parametrize("roles", [("work",), ("work", "read", "enqueue", "operate")], ids=str)
async def test_a_worker_behind_a_server_works_and_leaves_the_upkeep_to_it(
    serve: Serve, roles: tuple[str, ...], caplog: pytest.LogCaptureFixture
) -> None:
    api = await serve(upkeep=True)
    key = await api.add_key(*roles)
    app = Windlass(f"http://:{key}@127.0.0.1:{api.port}")
    ran = asyncio.Event()

    @app.cron("@every 1s")
    async def ticking() -> None:
        ran.set()

    @app.task
    async def plain() -> str:
        return "done"

    if "operate" not in roles:
        await api.store.put_schedules([*app.registry.schedules.values()])
    await api.store.insert([plain.call().job])
    worker = await app.worker(WorkerSettings(queues=("default",), rescue_interval=0.05))
    with caplog.at_level(logging.INFO, "windlass"):
        await worker.start()
        try:
            async with asyncio.timeout(60):
                await ran.wait()
                while not (await api.number(State.COMPLETED)) > 1:
                    await asyncio.sleep(0.05)
        finally:
            await worker.stop()
            await app.aclose()
    leaders = await api.store.leaders()
    assert {term.holder.partition(":")[0] for term in leaders.values()} == {"server"}
    bad = [each for each in caplog.records if each.levelno >= logging.WARNING]
    assert [each.getMessage() for each in bad if "API keys" not in each.getMessage()] == []
    assert await api.store.workers() == []


async def test_a_worker_names_no_more_queues_than_can_be_listed(site: Site) -> None:
    many = replace(WORKER, id="w", queues=tuple(f"q{number}" for number in range(1_001)))
    with pytest.raises(InvalidOption, match="1,000 queues"):
        await call(site, "beat", OTHER, worker=many, ttl=9_000)
    assert await listed(site) == {}
    few = replace(many, queues=many.queues[:1_000])
    await call(site, "beat", OTHER, worker=few, ttl=9_000)
    assert len((await listed(site))["w"]) == 1_000
