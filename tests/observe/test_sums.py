"""The figures of several processes together."""

import pytest

from windlass.observe.figures import Calls, Figures
from windlass.observe.ledger import Row, Spread
from windlass.worker.supervisor import sums
from windlass.worker.supervisor.sums import Sums

KEY = ("default", "greet")


def figures(completed: int, *, leads: bool = False) -> Figures:
    """Those of a process that has run so many jobs, each in a second."""
    run = Spread()
    for _ in range(completed):
        run.note(1.0)
    return Figures(
        rows={KEY: Row(completed=completed, run=run)},
        calls={"claim": Calls(errors=completed)},
        late=completed,
        leads={"upkeep": leads},
        slots=10,
        busy=completed,
    )


def test_the_whole_is_the_sum_of_all_processes() -> None:
    book = Sums()
    book.take("a", figures(2, leads=True), "")
    book.take("b", figures(3), "")
    book.take("a", figures(4, leads=True), "")
    total = book.total()
    assert total.rows[KEY].completed == total.late == total.calls["claim"].errors == 7
    assert (sum(total.rows[KEY].run.counts), total.rows[KEY].run.seconds) == (7, 7.0)
    assert (total.slots, total.busy, total.leads) == (20, 7, {"upkeep": True})


def test_what_a_process_has_counted_stays_and_what_it_was_goes() -> None:
    book = Sums()
    book.take("a", figures(4, leads=True), "")
    book.take("b", figures(3), "")
    book.bury("a")
    book.bury("never heard of")
    total = book.total()
    assert total.rows[KEY].completed == total.late == 7
    assert (total.slots, total.busy, total.leads) == (10, 3, {"upkeep": False})
    book.bury("b")
    assert (book.total().rows[KEY].completed, book.total().slots) == (7, 0)


def test_one_process_that_is_ready_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    book = Sums()
    assert book.fault() == "No process of this worker has started yet."
    book.take("a", figures(0), "The worker is stopping.")
    assert book.fault() == "The worker is stopping."
    book.take("b", figures(0), "")
    assert book.fault() is None
    monkeypatch.setattr(sums, "PATIENCE", 0.0)
    book.bury("a")
    assert book.fault() == "No process of this worker was heard of lately."
