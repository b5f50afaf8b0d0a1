"""Processes of one `windlass worker` that are told to stop, one after the other."""

from tests.acceptance.process import until
from tests.acceptance.supervised import Ship, alive

OFTEN = "from windlass.worker import presence; presence.BEAT = 0.1"
"""Workers tell of themselves, and are told to stop, every five seconds otherwise."""


def dismiss(ship: Ship, pid: int) -> None:
    id = ship.workers()[pid].id
    told = ship.app.client.block(lambda store: store.direct([id], "stop"), "", "")
    assert told == {id}


def test_a_process_that_was_told_to_stop_is_not_replaced_and_the_last_one_ends_it(
    ship: Ship,
) -> None:
    with ship.worker("--processes", "2", "--concurrency", "1", first=OFTEN) as worker:
        pids = ship.working(2)
        until(lambda: set(ship.workers()) == set(pids), "both to be on the list")
        ship.enqueue("hold", [(0,), (1,)])
        until(lambda: all((ship.folder / f"held-{n}").exists() for n in (0, 1)), "both to be held")
        for pid in pids:
            dismiss(ship, pid)
        ship.await_log("told to stop", 2)
        assert all(map(alive, pids)), "what runs may finish"
        (ship.folder / "free").touch()
        assert {run.pid for run in ship.await_runs(2)} == set(pids)
        assert worker.wait(40) == 0
    assert len(ship.started()) == 2
    assert "its place stays empty: 0 left" in ship.log()
    assert "Traceback" not in ship.log()


def test_the_others_go_on(ship: Ship) -> None:
    with ship.worker("--processes", "2", first=OFTEN) as worker:
        one, other = ship.working(2)
        until(lambda: set(ship.workers()) == {one, other}, "both to be on the list")
        dismiss(ship, one)
        ship.await_log("its place stays empty: 1 left")
        assert f"process {one} ended with exit code 0" in ship.log()
        ship.enqueue("haul", [(1,)])
        assert ship.await_runs(1) == [(1, other)]
        assert len(ship.started()) == 2
        worker.terminate()
        assert worker.wait(40) == 0
