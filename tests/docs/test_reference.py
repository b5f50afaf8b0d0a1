"""The tables and diagrams of the reference say what the code says, no more and no less."""

import inspect
import re
from typing import Any

import msgspec
import pytest

from tests.docs.pages import page, table
from windlass import errors
from windlass.cli.settings import written
from windlass.config import HistorySettings, ServerSettings, WorkerSettings
from windlass.core.model import DAY_MS
from windlass.core.options import CHECKS, Options, TaskOptions
from windlass.core.retry import DEFAULT_RETRY
from windlass.core.states import FIRST, TRANSITIONS, State
from windlass.core.unique import UNTIL_FINISHED
from windlass.declaration import CronDeclaration, Declaration
from windlass.stores.contract import Store
from windlass.stores.oversight import Oversight
from windlass.task import CallOptions


def code(cell: str) -> str:
    """What a cell has between its backticks."""
    match = re.fullmatch(r"`(.+)`", cell)
    assert match, f"{cell!r} is not code"
    return match[1]


def test_the_diagram_has_every_move_and_no_other() -> None:
    diagram = page("docs/reference/states.md").partition("```mermaid")[2].partition("```")[0]
    arrows = re.findall(r"^\s*(\S+) --> (\S+)(?: ?: (\w+))?$", diagram, re.MULTILINE)
    drawn = {(before, after): move for before, after, move in arrows}
    assert len(drawn) == len(arrows), "an arrow is drawn twice"
    assert {pair: move for pair, move in drawn.items() if pair[0] != "[*]"} == {
        (before.value, after.value): move.value for (before, after), move in TRANSITIONS.items()
    }
    assert {after for before, after in drawn if before == "[*]"} == {s.value for s in FIRST}


def test_every_state_is_explained() -> None:
    rows = table(page("docs/reference/states.md"), "## The states")
    assert [code(row[0]) for row in rows] == [state.value for state in State]


def test_every_move_is_explained() -> None:
    rows = table(page("docs/reference/states.md"), "## The moves")
    moves = list(dict.fromkeys(move.value for move in TRANSITIONS.values()))
    assert sorted(code(row[0]) for row in rows) == sorted(moves)


def test_task_options_are_listed_with_their_defaults() -> None:
    rows = table(page("docs/reference/options.md"), "## Options of a task and of a job")
    assert {code(row[0]): code(row[1]) for row in rows} == {
        name: default(name) for name in CHECKS if name in TaskOptions.__annotations__
    }


def test_job_options_are_listed() -> None:
    rows = table(page("docs/reference/options.md"), "## Options of one job")
    assert [code(row[0]) for row in rows] == [
        name
        for name in (*CHECKS, "connection", "validate")
        if name not in TaskOptions.__annotations__
    ]
    assert {code(row[0]) for row in rows} == CallOptions.__annotations__.keys() - (
        TaskOptions.__annotations__.keys()
    )


def test_declaration_options_are_listed_with_their_defaults() -> None:
    rows = table(page("docs/reference/options.md"), "## Options of the decorator only")
    given = {code(row[0]): row[1] for row in rows}
    own = Declaration.__annotations__.keys() - TaskOptions.__annotations__.keys()
    assert given.keys() == own | {"context", "batch"}
    assert eval(code(given["context"])) is False
    names: dict[str, Any] = {}
    exec("from windlass import *", names)
    for rule in ("backoff", "jitter", "retry_on", "fatal_on"):
        assert eval(code(given[rule]), names) == getattr(DEFAULT_RETRY, rule)


def test_schedule_options_are_listed() -> None:
    rows = table(page("docs/reference/options.md"), "## Options of a schedule")
    own = CronDeclaration.__annotations__.keys() - Declaration.__annotations__.keys()
    assert {code(row[0]) for row in rows} == own


def default(name: str) -> str:
    value = getattr(Options(), name)
    if name == "keep":
        assert value == DAY_MS
        return "86400"
    if name == "unique_for":
        assert value == UNTIL_FINISHED
        return '"finished"'
    return f'"{value}"' if isinstance(value, str) else str(value)


@pytest.mark.parametrize(
    ("section", "kind"), [("worker", WorkerSettings), ("server", ServerSettings)]
)
def test_settings_are_listed_with_their_defaults_flags_and_variables(
    section: str, kind: type[msgspec.Struct]
) -> None:
    rows = table(page("docs/reference/settings.md"), f"## The {section}")
    listed = [[cell.strip("`") for cell in row[:4]] for row in rows]
    assert listed == [
        [
            field.name,
            f"--{field.name.replace('_', '-')}",
            f"WINDLASS_{section}_{field.name}".upper(),
            written(field.default),
        ]
        for field in msgspec.structs.fields(kind)
    ]


def test_settings_of_history_are_listed() -> None:
    rows = table(page("docs/reference/settings.md"), "## History")
    assert [[cell.strip("`") for cell in row[:3]] for row in rows] == [
        [
            field.name,
            f"WINDLASS_HISTORY_{field.name.upper()}",
            written(field.default),
        ]
        for field in msgspec.structs.fields(HistorySettings)
    ]


def test_the_errors_are_drawn_as_they_are_derived() -> None:
    text = page("docs/reference/errors.md")
    drawn = text.partition("```text\n")[2].partition("```")[0]
    assert tree(drawn) == {
        kind.__name__: kind.__bases__[0].__name__ if kind is not errors.WindlassError else None
        for kind in kinds()
    }


def kinds() -> list[type[errors.WindlassError]]:
    return [
        kind
        for kind in vars(errors).values()
        if inspect.isclass(kind) and issubclass(kind, errors.WindlassError)
    ]


def test_the_module_draws_the_same_tree() -> None:
    drawn = page("docs/reference/errors.md").partition("```text\n")[2].partition("```")[0]
    assert tree(inspect.cleandoc(errors.__doc__ or "")) == tree(drawn)


def tree(drawing: str) -> dict[str, str | None]:
    """Each name of a drawn tree with the one it hangs on."""
    parents: dict[str, str | None] = {}
    path: list[str] = []
    for line in drawing.splitlines():
        match = re.match(r"^((?:[ │├└─]{4})*)([A-Z]\w+)", line)
        if match and (line.strip() == "WindlassError" or match[1].strip()):
            depth = len(match[1]) // 4 - (drawing.partition("WindlassError")[0][-4:] == "    ")
            path = [*path[:depth], match[2]]
            parents[match[2]] = path[-2] if depth else None
    return parents


def test_every_error_is_explained() -> None:
    rows = table(page("docs/reference/errors.md"), "## When each is raised")
    never_raised = {"WindlassError", "UsageError", "ResultError", "Directive"}
    assert [code(row[0]) for row in rows] == [
        kind.__name__ for kind in kinds() if kind.__name__ not in never_raised
    ]


def test_the_builtin_base_of_every_error_is_given() -> None:
    rows = table(page("docs/reference/errors.md"), "## When each is raised")
    for row in rows:
        builtin = [base.__name__ for base in getattr(errors, code(row[0])).__bases__[1:]]
        assert [row[1].strip("`")] == (builtin or [""]), row[0]


def test_every_method_of_the_contract_is_listed() -> None:
    rows = table(page("docs/reference/stores.md"), "## The contract")
    assert [code(row[0]) for row in rows] == [
        name
        for part in (Store, Oversight)
        for name, value in vars(part).items()
        if inspect.iscoroutinefunction(value)
    ]


def test_every_word_of_the_code_is_in_the_glossary() -> None:
    text = page("docs/glossary.md")
    words = re.findall(r"^\*\*(.+?)\*\*", text, re.MULTILINE)
    assert words == sorted(words)
    assert {state.value for state in State} <= set(words)
