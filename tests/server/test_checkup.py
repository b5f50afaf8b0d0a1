"""A server audits its store, and tells of it at /metrics."""

from windlass.observe.ledger import Ledger
from windlass.server.checkup import Checkup
from windlass.server.meter import Meter
from windlass.stores.memory import MemoryStore
from windlass.testing.clock import FakeClock
from windlass.testing.jobs import claim_one, put
from windlass.testing.work import until


async def test_what_is_wrong_in_the_store_is_a_metric() -> None:
    clock = FakeClock()
    store, meter = MemoryStore(clock), Meter(Ledger())
    await put(store, "lonely")
    await claim_one(store)
    clock.advance(120)
    checkup = Checkup(store, meter)
    checkup.start()
    try:
        await until(lambda: bool(meter.findings))
    finally:
        await checkup.stop()
    text = (await meter.scrape(store, frozenset())).decode()
    assert 'windlass_findings{kind="lease"} 1.0' in text
    assert 'windlass_findings{kind="dependent"} 0.0' in text
