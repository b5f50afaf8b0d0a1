"""`windlass worker`: real jobs in a real process, and how it ends."""

import json
import signal
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from subprocess import Popen

import pytest

from tests.cli.program import NOTHING, PATIENCE, Program, read_until
from windlass import Windlass
from windlass.cli.loop import run
from windlass.errors import JobFailed
from windlass.testing.work import until


def appears(path: Path) -> None:
    run(until(path.exists, timeout=PATIENCE))


def finish(program: Program, id: str) -> None:
    """Wait for the end of a job that a worker in another process runs."""
    app = Windlass(program.url)
    job = app.job(id)
    try:
        job.result(timeout=PATIENCE)
    finally:
        app.close()


def stop(process: Popen[str], number: int = signal.SIGTERM) -> str:
    """Stop a worker; the rest of what it logged."""
    process.send_signal(number)
    _, rest = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, rest
    return rest


def test_a_worker_runs_the_jobs_of_its_queues_and_ends_with_0(program: Program) -> None:
    greeting = program.enqueue("greet", "Ada")
    other = program.enqueue("add", "1", "--queue", "others")
    with program.interpreted("worker", "shop:app") as worker:
        line = read_until(worker, "started")
        finish(program, greeting)
        rest = stop(worker)
    assert f"started on {program.url}: queues sums,default, concurrency 100, threads 10," in line
    assert "Traceback" not in rest
    assert rest.splitlines()[-1].endswith(" stopped")
    assert program.job(greeting)["result"] == "Hello, Ada!"
    assert program.job(other)["state"] == "pending"


@pytest.mark.parametrize("options", [(), ("--processes", "2")], ids=["one", "two"])
def test_a_burst_runs_the_jobs_that_are_there_and_ends_with_0(
    program: Program, options: tuple[str, ...]
) -> None:
    jobs = [program.enqueue("greet", "Ada"), program.enqueue("add", "1")]
    later = program.enqueue("greet", "Bob", "--delay", "1h")
    refused = program.enqueue("refuse")
    done = program("worker", "shop:app", "--burst", *options)
    assert done.returncode == 0, done.stderr
    assert [program.job(job)["state"] for job in jobs] == ["completed", "completed"]
    assert (program.job(later)["state"], program.job(refused)["state"]) == ("scheduled", "dead")
    assert "the queues are empty: " in done.stderr
    assert "left are 1 job(s) that wait for their time or for others" in done.stderr
    assert "starting another" not in done.stderr


def test_a_burst_and_reload_contradict_each_other(program: Program) -> None:
    done = program("worker", "shop:app", "--burst", "--reload")
    assert done.returncode == 2
    assert "--burst ends the worker and --reload keeps it: give one of them." in done.stderr


def test_a_worker_on_memory_warns_that_nobody_else_sees_it(program: Program) -> None:
    with program.started("worker", "shop:app", environ={"WINDLASS_URL": "memory://"}) as worker:
        line = read_until(worker, "memory:// is in this process alone")
        stop(worker)
    assert "it runs what its own handlers and schedules enqueue" in line


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_running_jobs_finish(program: Program, number: int) -> None:
    id = program.enqueue("gate")
    with program.started("worker", "-A", "shop:app") as worker:
        appears(program.folder / "entered")
        worker.send_signal(number)
        read_until(worker, "stopping")
        late = program.enqueue("greet", "Ada")
        (program.folder / "open").touch()
        _, rest = worker.communicate(timeout=PATIENCE)
    assert (worker.returncode, "Traceback" in rest) == (0, False)
    job = program.job(id)
    assert (job["state"], job["result"], job["attempt"]) == ("completed", "through", 1)
    assert program.job(late)["state"] == "pending"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_ends_at_once_and_leaves_the_job_to_its_lease(
    program: Program, number: int
) -> None:
    id = program.enqueue("gate")
    with program.started("worker", "shop:app") as worker:
        appears(program.folder / "entered")
        worker.send_signal(number)
        read_until(worker, "stopping")
        worker.send_signal(number)
        assert worker.wait(timeout=PATIENCE) == 128 + number
    job = program.job(id)
    assert (job["state"], job["attempt"]) == ("active", 1)
    assert job["lease_until"] is not None


def test_a_job_that_does_not_finish_in_time_is_given_back_with_its_attempt(
    program: Program,
) -> None:
    id = program.enqueue("gate")
    with program.started("worker", "shop:app", "--shutdown-timeout", "0") as worker:
        appears(program.folder / "entered")
        stop(worker)
    job = program.job(id)
    assert (job["state"], job["attempt"]) == ("pending", 0)


def test_options_win_over_variables_and_these_over_the_file(program: Program) -> None:
    (program.folder / "windlass.toml").write_text(
        '[worker]\nqueues = ["file"]\nconcurrency = 1\nlease = 7\n', "utf-8"
    )
    variables = {"WINDLASS_WORKER_CONCURRENCY": "2", "WINDLASS_WORKER_QUEUES": "a, b"}
    with program.started("worker", "shop:app", "-c", "3", environ=variables) as worker:
        line = read_until(worker, "started")
        stop(worker)
    assert "queues a,b, concurrency 3, threads 3," in line


def test_the_url_of_the_command_line_wins(program: Program) -> None:
    with program.started("worker", "shop:app", "--url", "sqlite:///other.db") as worker:
        line = read_until(worker, "started")
        stop(worker)
    assert f"started on sqlite:///{program.folder}/other.db: " in line
    assert (program.folder / "other.db").exists()


def test_a_job_that_fails_does_not_end_the_worker(program: Program) -> None:
    dead = program.enqueue("refuse")
    with program.started("worker", "shop:app") as worker:
        with pytest.raises(JobFailed, match="dead after attempt 1: Fatal: not today"):
            finish(program, dead)
        finish(program, program.enqueue("greet", "Ada"))
        stop(worker)


def test_the_log_level_silences(program: Program) -> None:
    with program.started("worker", "shop:app", "--log-level", "warning") as worker:
        finish(program, program.enqueue("greet", "Ada"))
        assert stop(worker) == ""


def test_an_app_that_sets_up_logging_keeps_it(program: Program) -> None:
    (program.folder / "logging_shop.py").write_text(
        "import logging\n"
        "logging.basicConfig(level='INFO', format='own: %(message)s')\n"
        "from shop import app\n",
        "utf-8",
    )
    with program.started("worker", "logging_shop:app") as worker:
        assert read_until(worker, "started").startswith("own: ")
        stop(worker)


def test_an_app_without_tasks_is_refused_for_it_would_fail_every_job(program: Program) -> None:
    (program.folder / "bare.py").write_text(
        "from windlass import Windlass\napp = Windlass()\n", "utf-8"
    )
    done = program("worker", "bare:app")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("windlass: The app bare:app has no tasks; import the modules")


@pytest.mark.skipif(find_spec("uvloop") is None, reason="uvloop is not made for this platform")
def test_jobs_run_on_uvloop(program: Program) -> None:
    assert loop_of_a_job(program).startswith("uvloop")


def test_jobs_run_on_asyncio_where_there_is_no_uvloop(program: Program) -> None:
    (program.folder / "uvloop.py").write_text("raise ImportError", "utf-8")
    path = f"{program.folder}:{program.environ['PYTHONPATH']}"
    assert loop_of_a_job(program, {"PYTHONPATH": path}).startswith("asyncio")


def loop_of_a_job(program: Program, environ: Mapping[str, str] = NOTHING) -> str:
    """The module of the event loop that a worker runs async tasks on."""
    id = program.enqueue("loop")
    with program.interpreted("worker", "shop:app", environ=environ) as worker:
        finish(program, id)
        stop(worker)
    module = program.job(id)["result"]
    assert isinstance(module, str)
    return module


def test_lines_can_be_json_and_handlers_lines_say_which_job_they_are_of(program: Program) -> None:
    (program.folder / "chatty.py").write_text(
        "import logging\n"
        "from windlass import Windlass\n"
        "app = Windlass()\n"
        "@app.task\n"
        "def greet(name: str) -> None:\n"
        "    logging.getLogger('chatty').info('hello %s', name, extra={'size': 3})\n",
        "utf-8",
    )
    id = program.enqueue("greet", "Ada")
    with program.started("worker", "chatty:app", "--log-format", "json") as worker:
        started = json.loads(read_until(worker, "started"))
        line = json.loads(read_until(worker, "hello"))
        lines = [json.loads(line) for line in stop(worker).splitlines()]
    assert (started["level"], started["logger"]) == ("info", "windlass")
    assert (line["message"], line["job_id"], line["task"]) == ("hello Ada", id, "greet")
    assert (line["queue"], line["attempt"], line["size"]) == ("default", 1, 3)
    assert lines[-1]["message"].endswith("stopped")


def test_a_store_that_was_not_migrated_is_told_once_and_nothing_starts(program: Program) -> None:
    url = "sqlite:///fresh.db?migrate=off"
    with program.started("worker", "shop:app", "--url", url) as worker:
        assert worker.wait(timeout=PATIENCE) == 1
        assert worker.stderr is not None
        (line,) = worker.stderr.read().splitlines()
    assert "The tables of Windlass are missing" in line
    assert line.endswith("run `windlass migrate`.")
