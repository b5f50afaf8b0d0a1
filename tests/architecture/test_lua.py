"""Every `.lua` file explains itself, is used, and agrees with the Python that speaks to it."""

import re
from pathlib import Path

import pytest

from windlass.core.model import DAY_MS, DEFAULT_PRIORITY
from windlass.core.states import State
from windlass.stores.redis import record, replies
from windlass.stores.redis.keys import FIXED
from windlass.stores.redis.scripts import INCLUDE, script

STORE = Path(__file__).parents[2] / "src" / "windlass" / "stores" / "redis"
SCRIPTS = sorted((STORE / "lua").glob("*.lua"))
PIECES = sorted((STORE / "lua" / "shared").glob("*.lua"))
DEFINED = re.compile(r"^-- define: (\w+) (.+)$", re.MULTILINE)
CALL = re.compile(r"redis\.p?call\(\s*'(\w+)'(?:,\s*([^\n]*))?")

WITHOUT_KEYS = {"TIME", "PUBLISH"}
KEY = re.compile(r"(?:KEYS\[|LINE\[|LATER\[|FINISHED\[|LISTS\[|[A-Z]+\b)")
LOCAL_KEYS = {"TOKEN", "side[3]", "key"}
"""Names that stand for one of the KEYS, each for a reason that its own test looks at."""


def text(path: Path) -> str:
    return path.read_text("utf-8")


def header(path: Path) -> str:
    lines = text(path).splitlines()
    end = next((n for n, line in enumerate(lines) if not line.startswith("--")), len(lines))
    return "\n".join(lines[:end])


def body(path: Path) -> str:
    return "\n".join(line for line in text(path).splitlines() if not line.startswith("--"))


def defined(name: str) -> dict[str, str]:
    return dict(DEFINED.findall(text(STORE / "lua" / "shared" / f"{name}.lua")))


def name_of(path: Path) -> str:
    return path.name


def test_there_are_some() -> None:
    assert len(SCRIPTS) > 25
    assert len(PIECES) > 5


@pytest.mark.parametrize("path", SCRIPTS + PIECES, ids=name_of)
def test_a_header_says_what_it_does(path: Path) -> None:
    assert re.match(r"-- [A-Z]", header(path))


@pytest.mark.parametrize("path", SCRIPTS, ids=name_of)
def test_a_header_says_what_a_script_takes_and_returns(path: Path) -> None:
    said = header(path)
    assert re.search(r"^-- KEYS  \S", said, re.MULTILINE)
    assert re.search(r"^-- ARGV  call\b", said, re.MULTILINE)
    # In column 0: a return further in is that of a function.
    returns = re.search(r"^return\b", body(path), re.MULTILINE) is not None
    assert ("-- Returns" in said) == returns


@pytest.mark.parametrize("path", SCRIPTS, ids=name_of)
def test_the_code_asks_for_it_by_name(path: Path) -> None:
    code = "\n".join(text(file) for file in STORE.glob("*.py"))
    assert f'"{path.stem}"' in code


def test_every_script_that_the_code_asks_for_is_there() -> None:
    code = "\n".join(text(file) for file in STORE.glob("*.py"))
    asked = set(re.findall(r"\.(?:run|run_on|change)\(\s*\"(\w+)\"", code))
    assert len(asked) > 20
    assert asked <= {path.stem for path in SCRIPTS}


@pytest.mark.parametrize("path", SCRIPTS, ids=name_of)
def test_it_includes_what_it_needs_and_no_piece_that_is_not_there(path: Path) -> None:
    found = INCLUDE.search(text(path))
    assert found is not None
    assert set(found[1].split()) <= {piece.stem for piece in PIECES}
    # A name in capitals that nothing has defined would be nil when it is met.
    whole = "\n".join(
        line.partition("--")[0] for line in script(path.stem).source.decode().splitlines()
    )
    words = set(re.findall(r"(?<![\w'\"%.])([A-Z][A-Z_]{2,})\b(?!')", whole))
    known = set(re.findall(r"\blocal ([A-Z_, ]+?)(?: =|$)", whole, re.MULTILINE))
    known = {name for names in known for name in names.split(", ")} | {"KEYS", "ARGV"}
    assert not words - known


def test_every_piece_is_included() -> None:
    used = {piece for path in SCRIPTS for piece in INCLUDE.findall(text(path))[0].split()}
    assert used == {piece.stem for piece in PIECES}


@pytest.mark.parametrize("path", SCRIPTS + PIECES, ids=name_of)
def test_it_touches_declared_keys_only(path: Path) -> None:
    for command, rest in CALL.findall(body(path)):
        if command in WITHOUT_KEYS:
            continue
        key = re.match(r"[\w.]+(?:\[[^,]*?\]+)*", rest)
        assert key is not None, (command, rest)
        assert KEY.match(key[0]) or key[0] in LOCAL_KEYS, (command, key[0])
        assert not rest[len(key[0]) :].lstrip().startswith(".."), (command, rest)


def test_names_that_stand_for_a_key_are_made_from_keys() -> None:
    sources = "\n".join(body(path) for path in SCRIPTS + PIECES)
    assert set(re.findall(r"local TOKEN = (\w+)\[", sources)) == {"KEYS"}
    for table in ("LINE", "LATER"):
        assert set(re.findall(rf"^\s*{table}\[.+\] = (\w+)\[", sources, re.MULTILINE)) == {"KEYS"}
    handed = set(re.findall(r"(?:variadic\('\w+', |\bmany\()(\w+(?:\[\w+\])?),", sources))
    assert len(handed) > 5
    assert {name for name in handed if not KEY.match(name)} == {"key"}


@pytest.mark.parametrize("path", SCRIPTS + PIECES, ids=name_of)
def test_it_runs_on_redis_6_2(path: Path) -> None:
    written = text(path)
    assert "register_function" not in written
    assert "#!lua" not in written
    assert "cjson" not in written  # what a job carries is never read


def test_keys_have_one_order() -> None:
    keys = {name: value for name, value in defined("keys").items() if name != "FIXED_KEYS"}
    assert [name.lower() for name in keys] == list(FIXED)
    assert list(keys.values()) == [f"KEYS[{n}]" for n in range(1, len(FIXED) + 1)]
    assert defined("keys")["FIXED_KEYS"] == str(len(FIXED))


def test_states_have_one_code() -> None:
    names = {
        State.BLOCKED: "IS_BLOCKED",
        State.COMPLETED: "DONE_COMPLETED",
        State.DEAD: "DONE_DEAD",
        State.CANCELLED: "DONE_CANCELLED",
    }
    known = defined("codes")
    assert set(record.CODES) == set(State)
    for state, code in record.CODES.items():
        assert known[names.get(state, state.name)] == str(code)


@pytest.mark.parametrize(
    "name",
    [
        *("HAS_DUE", "HAS_KEEP", "HAS_UNIQUE", "HAS_RUN", "HAS_DONE", "HAS_LARGE"),
        *("HAS_RESULT", "HAS_ERROR", "HAS_PROGRESS", "REMOTE_ID", "REMOTE_KEY"),
        *("HAS_CHECKPOINT", "HAS_DEPENDENTS", "HELD_BACK", "GHOST", "HAS_MAIL", "HAS_TRAITS"),
        *("BIAS", "PRIORITY_STEP"),
    ],
)
def test_the_layout_of_a_record_has_one_meaning(name: str) -> None:
    value = getattr(record, name, None) or getattr(replies, name)
    assert defined("codes")[name] == str(value)


def test_defaults_are_those_of_the_model() -> None:
    known = defined("codes")
    assert known["DEFAULT_KEEP"] == str(DAY_MS)
    assert known["DEFAULT_PRIORITY"] == str(DEFAULT_PRIORITY)


def test_no_flag_means_two_things() -> None:
    known = defined("codes")
    second = {
        *("HAS_PROGRESS", "REMOTE_ID", "REMOTE_KEY"),
        *("HAS_CHECKPOINT", "HAS_DEPENDENTS", "HELD_BACK", "HAS_MAIL", "HAS_TRAITS"),
    }
    first = {name for name in known if name.startswith("HAS_")} - second
    assert sorted(int(known[name]) for name in first) == [1 << n for n in range(8)]
    assert sorted(int(known[name]) for name in second) == [1 << n for n in range(8)]
