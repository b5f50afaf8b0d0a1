"""What newcomers type first: each is done, or answered with what is wrong and what to do."""

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import Result

from tests.cli.conftest import Call
from tests.cli.program import PATIENCE, Program, read_until
from windlass.cli.habits import COMMANDS as FOREIGN_COMMANDS
from windlass.cli.habits import OPTIONS, behind_the_command
from windlass.cli.loop import run
from windlass.cli.main import COMMANDS
from windlass.cli.target import absolute
from windlass.testing.work import until

APP = """
from windlass import Windlass

app = Windlass()
again = app


@app.task
def add(a: int, b: int = 1) -> int:
    return a + b
"""


@pytest.fixture
def folder(tmp_path: Path, call: Call) -> Path:
    (tmp_path / "windlass.toml").write_text("", "utf-8")
    return tmp_path


def said(result: Result) -> str:
    """What a command that was refused has said, without its usage."""
    assert result.exit_code in (1, 2), result.output
    assert "Traceback" not in result.stderr
    return " ".join(result.stderr.replace("windlass: ", "").partition("Error: ")[2].split()) or (
        " ".join(result.stderr.replace("windlass: ", "").split())
    )


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("worker", "Name the app: windlass worker MODULE:APP, as in shop:app"),
        ("worker shop:", "an app is named MODULE:APP, as in shop:app, not 'shop:'."),
        ("worker ./shop.py:app", "'./shop.py' is a file; name the module, as in shop:app."),
        ("worker shop.py", "'shop.py' is a file; name the module, as in shop:app."),
        (
            "worker s:app -Q a b",
            "unexpected extra argument (b). Name one app, and divide queues by",
        ),
        ("worker -A s:app -Q a b", "and divide queues by commas, as in -Q a,b."),
        ("worker s:app -Q a;b", "queues has 'a;b': divide queues by commas, as in a,b."),
        ("worker s:app -B", "No such option '-B': each worker sees to the schedules of its app"),
        ("worker s:app -P gevent", "No such option '-P': an async def runs on the event loop"),
        ("worker s:app --watch", "No such option '--watch': did you mean --reload?"),
        ("worker s:app --concurency 2", "did you mean '--concurrency'?"),
        ("worker s:app -c 0", "concurrency must be above 0."),
        ("beat", "There is no command beat: each windlass worker sees to the schedules"),
        ("flower", "There is no command flower: windlass server has a dashboard"),
        ("wroker", "There is no command wroker: did you mean worker?"),
        ("queues -B", "No such option '-B'."),
    ],
)
def test_a_slip_on_the_command_line_is_answered(call: Call, words: str, answer: str) -> None:
    text = said(call(*words.split(" ")))
    assert answer.lower() in text.lower()


@pytest.mark.parametrize("words", [[], ["-h"], ["--help"]])
def test_the_command_alone_shows_its_help(call: Call, words: list[str]) -> None:
    result = call(*words)
    assert result.exit_code == 0
    assert "  worker " in result.stdout and "  enqueue " in result.stdout


def test_it_is_a_module_too() -> None:
    command = [sys.executable, "-m", "windlass", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout[:9]) == (0, "windlass ")


def test_no_answer_stands_for_a_command_or_option_that_there_is(call: Call) -> None:
    assert not FOREIGN_COMMANDS.keys() & COMMANDS.keys()
    text = call("worker", "--help").stdout.replace(",", " ").split()
    assert not OPTIONS.keys() & {*text}


@pytest.mark.parametrize(
    ("given", "moved"),
    [
        ("-A s:app worker -c 1", "worker -A s:app -c 1"),
        ("--app=s:app -u memory:// jobs", "jobs --app=s:app -u memory://"),
        ("--version", "--version"),
        ("worker -A s:app", "worker -A s:app"),
        ("-A s:app", "-A s:app"),
        ("-A", "-A"),
    ],
)
def test_the_app_may_stand_before_the_command(given: str, moved: str) -> None:
    assert behind_the_command(given.split()) == moved.split()


def test_a_worker_starts_as_others_are_started(program: Program) -> None:
    with program.started("-A", "shop", "worker", "-l", "INFO", "-Q", "sums,default") as worker:
        line = read_until(worker, "started on")
    assert f"started on {program.url}: queues sums,default," in line


def test_the_one_app_of_a_module_is_found(call: Call, folder: Path) -> None:
    name = "one"
    (folder / "one.py").write_text(APP, "utf-8")
    assert call("enqueue", "add", "1", "-A", name).exit_code == 0
    assert "did you mean add?" in said(call("enqueue", "addd", "1", "-A", name))


def test_of_several_apps_one_is_to_be_named(call: Call, folder: Path) -> None:
    (folder / "two.py").write_text(APP + "other = Windlass()", "utf-8")
    assert said(call("worker", "two")) == (
        "The module two has several apps: name one of two:app, two:other."
    )


def test_a_module_without_an_app_says_how_to_make_one(call: Call, folder: Path) -> None:
    (folder / "none.py").write_text("x = 1", "utf-8")
    assert "There is no app in the module none: make one there by app = Windlass()" in said(
        call("worker", "none")
    )


def test_a_point_in_the_place_of_the_colon(call: Call, folder: Path) -> None:
    (folder / "dotted.py").write_text(APP, "utf-8")
    text = said(call("worker", "dotted.app"))
    assert text.startswith("There is no module dotted.app in ")
    assert text.endswith("Did you mean dotted:app?")


def test_the_app_can_be_a_variable_or_a_setting(program: Program) -> None:
    with program.started("worker", environ={"WINDLASS_APP": "shop:app"}) as worker:
        assert "tasks add, gate" in read_until(worker, "started on")
    (program.folder / "windlass.toml").write_text('[worker]\napp = "shop"\n', "utf-8")
    with program.started("worker") as worker:
        assert "tasks add, gate" in read_until(worker, "started on")
    assert program("enqueue", "addd", environ={"WINDLASS_APP": "shop"}).returncode == 1


def test_what_is_typed_wins_over_the_variable(program: Program) -> None:
    environ = {"WINDLASS_APP": "nowhere:app"}
    assert program("enqueue", "greet", "Ada", "-A", "shop:app", environ=environ).returncode == 0
    with program.started("worker", "shop:app", environ=environ) as worker:
        read_until(worker, "started on")


def test_a_server_is_named_its_app_as_a_worker_is(program: Program) -> None:
    ports = ("--http-port", "0", "--grpc-port", "-1")
    with program.started("server", "shop:app", *ports) as server:
        assert f"serving {program.url} at http://" in read_until(server, "serving")
    done = program("server", "shop:nothing", *ports)
    assert "There is no shop:nothing: did you mean shop:app?" in done.stderr


@pytest.mark.parametrize(
    ("variable", "meant"),
    [
        ("WINDLAS_URL", "WINDLASS_URL"),
        ("WINDLASSS_WORKER_LEASE", "WINDLASS_WORKER_LEASE"),
    ],
)
def test_a_slip_in_a_variable_is_told(
    call: Call, monkeypatch: pytest.MonkeyPatch, variable: str, meant: str
) -> None:
    call("migrate")
    monkeypatch.setenv(variable, "7")
    result = call("queues")
    assert result.exit_code == 0
    assert result.stderr == f"windlass: {variable} is no setting: is it {meant}?\n"
    assert call("config").stderr.count(variable) == 1


def test_jobs_in_a_queue_that_no_worker_serves_are_told_when_one_starts(program: Program) -> None:
    for queue in ("mial", "mial", "held", "sums"):
        program.enqueue("greet", "Ada", "--queue", queue)
    assert program("pause", "held").returncode == 0
    with program.started("worker", "shop:app") as worker:
        line = read_until(worker, "no worker serves")
    assert "Jobs wait in queues that no worker serves: mial (2). Start a worker with" in line


def test_jobs_that_another_worker_will_run_are_not_told(program: Program) -> None:
    program.enqueue("gate")
    with program.started("worker", "shop:app", "-Q", "mail,default", "-c", "1"):
        run(until((program.folder / "entered").exists, timeout=PATIENCE))
        program.enqueue("greet", "Ada", "--queue", "mail")
        done = program("worker", "shop:app", "-Q", "sums", "--burst")
        assert (done.returncode, "no worker serves" in done.stderr) == (0, False)
        program.enqueue("greet", "Ada", "--queue", "mial")
        assert "serves: mial (1)" in program("worker", "shop:app", "-Q", "sums", "--burst").stderr


def test_the_path_of_a_sqlite_file_is_shown_in_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert absolute("sqlite:///jobs.db") == f"sqlite:///{tmp_path}/jobs.db"
    assert absolute("sqlite:///./a/jobs.db?x=1") == f"sqlite:///{tmp_path}/a/jobs.db?x=1"
    for url in ("sqlite:////var/jobs.db", "redis://localhost/1", "memory://"):
        assert absolute(url) == url


def test_a_folder_that_is_missing_is_named(call: Call, folder: Path) -> None:
    assert said(call("enqueue", "add", "-u", "sqlite:///no/m.db")) == (
        f"Cannot open the SQLite file {folder}/no/m.db: there is no folder {folder}/no; make it, "
        "or correct the URL."
    )
    assert "it is a folder; name a file in it." in said(
        call("enqueue", "add", "-u", f"sqlite:///{folder}")
    )


@pytest.mark.parametrize("queue", ["my queue!", "a;b", "a,b"])
def test_a_queue_is_one_word(call: Call, queue: str) -> None:
    assert said(call("enqueue", "add", "-q", queue)) == (
        f"The name of a queue is one word without commas and semicolons; got {queue!r}."
    )


def test_a_queue_may_have_a_slash_a_colon_or_any_letter(call: Call) -> None:
    for queue in ("a/b", "tenant:7", "Aufträge", "a.b-c_d@e", "my-queue!"):
        assert call("enqueue", "add", "-q", queue).exit_code == 0
