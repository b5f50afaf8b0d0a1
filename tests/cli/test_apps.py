"""Naming an app: the current folder is importable, and each way to get it wrong has a sentence."""

from pathlib import Path

import pytest

from tests.cli.program import Program


def refusal(program: Program, name: str, **modules: str) -> str:
    """What `windlass queues` says of an app, beside modules with these texts."""
    for module, text in modules.items():
        (program.folder / f"{module}.py").write_text(text, "utf-8")
    done = program("queues", "-A", name)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("windlass: ")
    assert done.stderr.count("\n") == 1
    assert not (program.folder / "jobs.db").exists()
    return done.stderr.removeprefix("windlass: ").rstrip("\n")


def test_the_current_folder_is_importable(program: Program) -> None:
    assert program("migrate").returncode == 0
    done = program("queues", "-A", "shop:app")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"There are no queues in {program.url}.\n"


def test_an_app_can_be_an_attribute_of_something_in_a_package(program: Program) -> None:
    package = program.folder / "market"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "stall.py").write_text("import shop as inner", "utf-8")
    assert program("migrate", "-A", "market.stall:inner.app").returncode == 0


def test_a_module_that_is_not_there(program: Program) -> None:
    assert refusal(program, "stall:app") == (
        f"There is no module stall in {program.folder} or among the installed ones."
    )


def test_a_package_that_is_not_there(program: Program) -> None:
    assert "There is no module market in " in refusal(program, "market.stall:app")


def test_an_attribute_that_is_not_there_names_the_one_that_is(program: Program) -> None:
    assert refusal(program, "shop:ap") == "There is no shop:ap: did you mean shop:app?"


def test_a_module_without_an_app(program: Program) -> None:
    assert refusal(program, "plain:app", plain="x = 1") == (
        "There is no plain:app: no app is made in that module."
    )


def test_an_attribute_that_is_no_app(program: Program) -> None:
    assert refusal(program, "shop:number") == (
        "shop:number is a value of type int, not an app: did you mean shop:app?"
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x = 1\n1 / 0\n", "ZeroDivisionError: division by zero ({path}, line 2)"),
        ("import nowhere\n", "ModuleNotFoundError: No module named 'nowhere' ({path}, line 1)"),
        ("def f(:\n", "SyntaxError: invalid syntax (faulty.py, line 1)"),
        ("raise SystemExit('bye')\n", "SystemExit: bye ({path}, line 1)"),
        ("raise ValueError('two\\nlines\\x1b[31m')", "ValueError: two lines\\x1b[31m ({path}"),
    ],
)
def test_a_module_that_cannot_be_imported_names_the_error_and_the_line(
    program: Program, text: str, reason: str
) -> None:
    expected = reason.format(path=Path(program.folder, "faulty.py"))
    sentence = refusal(program, "faulty:app", faulty=text)
    assert sentence.startswith(f"The module faulty cannot be imported: {expected}")


def test_an_app_in_memory_cannot_be_moved_to_another_store(program: Program) -> None:
    (program.folder / "brief.py").write_text(
        "from windlass import Windlass\napp = Windlass('memory://')\n", "utf-8"
    )
    done = program("queues", "-A", "brief:app", "--url", program.url)
    assert done.returncode == 1
    assert done.stderr == "windlass: The app keeps its jobs in memory: --url cannot move it.\n"


def test_the_url_wins_over_the_apps_own_even_if_its_module_has_used_that(program: Program) -> None:
    (program.folder / "hasty.py").write_text(
        "from windlass import Windlass\n"
        "app = Windlass('sqlite:///own.db')\n"
        "@app.task\n"
        "def start() -> None: ...\n"
        "start.using(id='at-import').enqueue()\n",
        "utf-8",
    )
    done = program("enqueue", "start", "--id", "asked-for", "-A", "hasty:app", "-u", program.url)
    assert (done.returncode, done.stderr) == (0, "")
    assert program.job("asked-for")["task"] == "start"
    assert program("job", "asked-for", "--url", "sqlite:///own.db").returncode == 3
