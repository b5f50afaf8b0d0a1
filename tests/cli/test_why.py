"""`windlass why`: one sentence, from a real store and real workers."""

import json

import pytest

from tests.cli.conftest import Call
from tests.cli.program import PATIENCE, Program, read_until
from windlass import Windlass
from windlass.cli.loop import run
from windlass.testing.work import until


@pytest.fixture
def waiting(app: Windlass) -> Windlass:
    """A pending job, one behind it, and one for later."""

    @app.task(queue="mail")
    def send() -> None: ...

    send.using(id="first").enqueue()
    send.using(id="second").enqueue()
    send.using(id="later", delay=3600).enqueue()
    app.close()
    return app


@pytest.mark.usefixtures("waiting")
def test_it_answers_with_one_line(call: Call) -> None:
    result = call("why", "first")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == "No worker serves its queue mail: none at all is heard of.\n"
    assert call("why", "later").stdout.startswith("It waits for its time, 20")
    assert call("pause", "mail").exit_code == 0
    assert call("why", "first").stdout == "Its queue mail is paused until someone resumes it.\n"


@pytest.mark.usefixtures("waiting")
def test_programs_get_the_reason_as_a_word(call: Call) -> None:
    assert json.loads(call("why", "second", "--json").stdout) == {
        "id": "second",
        "state": "pending",
        "reason": "no_worker",
        "sentence": "No worker serves its queue mail: none at all is heard of.",
    }


@pytest.mark.usefixtures("waiting")
def test_an_unknown_id_exits_with_3(call: Call) -> None:
    result = call("why", "nobody", "--json")
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr.startswith("windlass: There is no job nobody: ")


def test_the_worker_that_runs_it_is_named_and_listed(program: Program) -> None:
    running = program.enqueue("gate")
    with program.started("worker", "shop:app", "-c", "1") as worker:
        line = read_until(worker, "started")
        id = line.split("worker ")[1].split(" started")[0]
        run(until((program.folder / "entered").exists, timeout=PATIENCE))
        told = program("why", running).stdout
        listed = json.loads(program("workers", "--json").stdout)
        (program.folder / "open").touch()
    assert told.startswith(f"It is running: worker {id} has it since 20")
    assert [(each["id"], each["pid"], each["queues"]) for each in listed] == [
        (id, worker.pid, ["sums", "default"])
    ]
