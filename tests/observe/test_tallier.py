"""What a worker has counted comes to the store, each job but once."""

import pytest

from windlass import Windlass
from windlass.config import WorkerSettings
from windlass.core import stats
from windlass.core.model import Job, Spec, Transition
from windlass.core.states import State
from windlass.core.stats import FINE, WHOLE, Tally
from windlass.observe import ledger
from windlass.observe.ledger import Ledger
from windlass.stores.memory import MemoryStore
from windlass.testing.faults import FaultyStore
from windlass.testing.work import until, work
from windlass.worker import tallier
from windlass.worker.tallier import Tallier, Unsent


def ran(book: Ledger, queue: str = "default", seconds: float = 0.2) -> None:
    job = Job("id", Spec("t", b""), queue, State.ACTIVE, 50, 0, 0, 1, 1, started_at=400)
    book.settle_one(job, Transition("id", 1, State.COMPLETED), seconds)


def test_what_was_told_is_not_told_again() -> None:
    book = Ledger()
    unsent = Unsent("me", book)
    assert (unsent.next(), unsent.number) == ([], 0)
    ran(book)
    ran(book, "other", 10_000)
    first = [
        Tally("default", {"completed": 1, "run:5": 1, "wait:6": 1}),
        Tally("other", {"completed": 1, f"run:{len(stats.BOUNDS)}": 1, "wait:6": 1}),
    ]
    assert (unsent.next(), unsent.number) == (first, 1)
    ran(book)
    assert (unsent.next(), unsent.number) == (first, 1), "its answer may have been lost"
    unsent.taken()
    news = [Tally("default", {"completed": 1, "run:5": 1, "wait:6": 1})]
    assert (unsent.next(), unsent.number) == (news, 2)
    unsent.taken()
    assert (unsent.next(), unsent.number) == ([], 2)


def test_what_is_beyond_the_rows_counts_for_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "MOST_ROWS", 1)
    book = Ledger()
    for queue in ("a", "b", "c"):
        ran(book, queue)
    told = {each.queue: each.counts["completed"] for each in Unsent("me", book).next()}
    assert told == {"a": 1, WHOLE: 2}


async def test_a_tally_whose_answer_was_lost_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tallier, "INTERVAL", 0.01)
    book, engine = Ledger(), MemoryStore()
    store = FaultyStore(engine)
    store.lose["tally"] = 2
    store.fail["tally"] = 2
    service = Tallier(store, Unsent("me", book))
    ran(book)
    service.start()
    await until(lambda: store.calls["tally"] == 5)
    ran(book)
    await service.stop()
    points = await engine.stats(["default", WHOLE], FINE, 0)
    assert {point.queue for point in points} == {"default", WHOLE}
    assert stats.summed(points)["completed"] == 4, "two for the queue, two for the whole"


async def test_the_store_knows_of_all_that_a_worker_has_run(app: Windlass) -> None:
    @app.task(queue="mail", max_retries=1, backoff=0)
    async def send(number: int) -> None:
        if number == 0:
            raise ValueError

    await app.aenqueue_many([send.call(n) for n in range(10)])
    await work(app, WorkerSettings(queues=("mail",)))
    store = await app.client.store()
    for queue in ("mail", WHOLE):
        counts = stats.summed(await store.stats([queue], FINE, 0))
        plain = {name: counts[name] for name in tallier.PLAIN if counts.get(name)}
        assert plain == {"completed": 9, "failed": 2, "retried": 1, "dead": 1}
        assert sum(n for name, n in counts.items() if name.startswith("run:")) == 11
        assert sum(n for name, n in counts.items() if name.startswith("wait:")) == 11


async def test_an_idle_worker_tells_nothing(app: Windlass, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tallier, "INTERVAL", 0.01)
    store = FaultyStore(await app.client.store())
    service = Tallier(store, Unsent("me", Ledger()))
    service.start()
    await service.pause(0.1)
    await service.stop()
    assert store.calls["tally"] == 0
