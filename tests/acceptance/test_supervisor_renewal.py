"""Processes that are replaced: after many jobs, with much memory, by SIGHUP, by new source."""

import re
import signal

from tests.acceptance.process import until
from tests.acceptance.supervised import CREW, Ship, alive, stop
from windlass import State


def test_no_job_is_lost_or_run_twice_while_processes_are_replaced(ship: Ship) -> None:
    jobs = 0
    with ship.worker("--processes", "2", "--max-jobs", "60", "--concurrency", "5") as worker:
        while len({run.pid for run in ship.runs()}) < 5:
            ship.enqueue("haul", [(number, 0.01) for number in range(jobs, jobs + 100)])
            jobs += 100
            ship.await_runs(jobs - 50)
        ship.await_runs(jobs)
        assert stop(worker) == 0
    assert sorted(run.number for run in ship.runs()) == list(range(jobs))
    assert ship.site.counts() == {State.COMPLETED: jobs}
    assert all(job.attempt == 1 for job in ship.site.find(State.COMPLETED))


def test_a_process_that_has_run_enough_is_replaced_and_one_goes_on_meanwhile(ship: Ship) -> None:
    with ship.worker("--processes", "2", "--max-jobs", "1", "--concurrency", "2") as worker:
        old = ship.working(2)
        # Each has one that ends, so that both are due, and one that keeps it from ending.
        ship.enqueue("hold", [(n,) for n in range(4)])
        until(lambda: all((ship.folder / f"held-{n}").exists() for n in range(4)), "all to be held")
        ship.enqueue("haul", [(10,)])
        (ship.folder / "free").touch()
        ship.await_log(r"process \d+ has run \d+ jobs; another takes its place", 2)
        new = ship.working(4)[2:]
        until(lambda: not any(map(alive, old)), "the first two to be gone")
        assert all(map(alive, new))
        assert stop(worker) == 0
    # One after the other: the second was asked to stop when the first was gone.
    events = re.findall(r"process (\d+) (started|ended)", ship.log())
    assert [event for _, event in events][:6] == ["started"] * 3 + ["ended", "started", "ended"]


def test_a_process_with_too_much_memory_is_replaced(ship: Ship) -> None:
    with ship.worker("--max-memory", "200") as worker:
        (old,) = ship.working(1)
        ship.enqueue("haul", [(1,)])
        ship.await_runs(1)
        ship.enqueue("load", [(2, 200)])
        ship.await_log(rf"process {old} uses \d+ MiB of memory; another takes its place")
        new = ship.working(2)[1]
        until(lambda: not alive(old), "the old one to be gone")
        ship.enqueue("haul", [(3,)])
        assert ship.await_runs(3)[2].pid == new
        assert stop(worker) == 0


def test_a_limit_below_what_a_fresh_process_has_does_not_replace_it_for_ever(ship: Ship) -> None:
    with ship.worker("--max-memory", "1") as worker:
        (first,) = ship.working(1)
        ship.enqueue("haul", [(1,)])
        second = ship.working(2)[1]
        until(lambda: not alive(first), "the first to be gone")
        ship.enqueue("haul", [(2,)])
        assert ship.await_runs(2)[1].pid == second
        assert ship.working(3)[:2] == [first, second]
        assert stop(worker) == 0


def test_sighup_replaces_all_one_after_the_other_and_loses_nothing(ship: Ship) -> None:
    with ship.worker("--processes", "2", "--concurrency", "1") as worker:
        old = ship.working(2)
        ship.enqueue("haul", [(number, 0.01) for number in range(200)])
        ship.await_runs(10)
        worker.send_signal(signal.SIGHUP)
        until(lambda: not any(map(alive, old)), "the first two to be gone")
        ship.await_runs(200)
        assert stop(worker) == 0
    assert sorted(run.number for run in ship.runs()) == list(range(200))
    assert ship.site.counts() == {State.COMPLETED: 200}


def test_sighup_with_code_that_cannot_be_loaded_takes_nothing_down(ship: Ship) -> None:
    with ship.worker("--processes", "2") as worker:
        old = ship.working(2)
        ship.write("crew.py", "def broken(:\n")
        worker.send_signal(signal.SIGHUP)
        ship.await_log("The module crew cannot be imported: SyntaxError", 2)
        ship.enqueue("haul", [(1,)])
        assert ship.await_runs(1)[0].pid in old
        assert all(map(alive, old))
        assert stop(worker) == 0


def test_a_new_process_reads_the_settings_file_anew_and_a_wrong_one_takes_nothing_down(
    ship: Ship,
) -> None:
    with ship.worker("--processes", "2") as worker:
        old = ship.working(2)
        ship.write("windlass.toml", "[worker]\nconcurency = 7\n")
        worker.send_signal(signal.SIGHUP)
        ship.await_log("Unknown setting worker.concurency: did you mean concurrency", 2)
        assert all(map(alive, old))
        ship.write("windlass.toml", "[worker]\nconcurrency = 7\n")
        worker.send_signal(signal.SIGHUP)
        ship.await_log("concurrency 7,", 2)
        until(lambda: not any(map(alive, old)), "the first two to be gone")
        assert stop(worker) == 0


def test_reload_restarts_on_a_change_and_waits_for_the_next_one_on_a_syntax_error(
    ship: Ship,
) -> None:
    with ship.worker("--reload") as worker:
        (first,) = ship.working(1)
        ship.write("crew.py", CREW.replace("note(number)", "note(number + 100)"))
        second = ship.working(2)[1]
        until(lambda: not alive(first), "the first to be gone")
        ship.enqueue("haul", [(1,)])
        assert ship.await_runs(1) == [(101, second)]
        ship.write("crew.py", "def broken(:\n")
        ship.await_log("SyntaxError: .* Waiting for the next change.")
        # Of another length: two versions of one second and one length have one compiled file.
        ship.write("crew.py", CREW.replace("note(number)", "note(number + 2000)"))
        third = ship.working(3)[2]
        until(lambda: not alive(second), "the second to be gone")
        ship.enqueue("haul", [(1,)])
        assert ship.await_runs(2)[1] == (2001, third)
        assert stop(worker) == 0
    assert "Traceback" not in ship.log()


def test_reload_notices_a_module_that_was_broken_when_it_was_first_loaded(ship: Ship) -> None:
    with ship.worker("--reload") as worker:
        ship.working(1)
        ship.write("hull.py", "def broken(:\n")
        ship.write("crew.py", "import hull\n" + CREW)
        ship.await_log("Waiting for the next change.")
        ship.write("hull.py", "")
        ship.working(2)
        assert stop(worker) == 0


def test_reload_notices_a_module_that_a_handler_imports(ship: Ship) -> None:
    ship.write("anchor.py", "WEIGHT = 1\n")
    late = "    import anchor\n    note(number + anchor.WEIGHT)"
    ship.write("crew.py", CREW.replace("    note(number)", late, 1))
    with ship.worker("--reload") as worker:
        ship.working(1)
        ship.enqueue("haul", [(1,)])
        assert ship.await_runs(1)[0].number == 2
        until(lambda: "anchor" in ship.log() or _rewritten(ship), "a reload")
        ship.working(2)
        assert stop(worker) == 0


def _rewritten(ship: Ship) -> bool:
    """Write the module again; whether it is watched already cannot be seen from here."""
    (ship.folder / "anchor.py").write_text(f"WEIGHT = 2  # {len(ship.log())}\n", "utf-8")
    return False
