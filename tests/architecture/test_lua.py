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


def code_beside() -> str:
    """The Python that speaks to the scripts."""
    return "\n".join(text(file) for file in STORE.glob("*.py"))


def header(path: Path) -> str:
    lines = text(path).splitlines()
    end = next((n for n, line in enumerate(lines) if not line.startswith("--")), len(lines))
    return "\n".join(lines[:end])


def body(path: Path) -> str:
    return "\n".join(line for line in text(path).splitlines() if not line.startswith("--"))


def defined(name: str) -> dict[str, str]:
    return dict(DEFINED.findall(text(STORE / "lua" / "shared" / f"{name}.lua")))


def test_there_are_some() -> None:
    assert len(SCRIPTS) > 25
    assert len(PIECES) > 5


def test_a_header_says_what_each_does() -> None:
    assert not [path.name for path in SCRIPTS + PIECES if not re.match(r"-- [A-Z]", header(path))]


def test_a_header_says_what_each_script_takes_and_returns() -> None:
    for path in SCRIPTS:
        said = header(path)
        assert re.search(r"^-- KEYS  \S", said, re.MULTILINE), path.name
        assert re.search(r"^-- ARGV  call\b", said, re.MULTILINE), path.name
        # In column 0: a return further in is that of a function.
        returns = re.search(r"^return\b", body(path), re.MULTILINE) is not None
        assert ("-- Returns" in said) == returns, path.name


def test_the_code_asks_for_each_by_name() -> None:
    code = code_beside()
    assert not [path.name for path in SCRIPTS if f'"{path.stem}"' not in code]


def test_every_script_that_the_code_asks_for_is_there() -> None:
    asked = set(re.findall(r"\.(?:run|run_on|change)\(\s*\"(\w+)\"", code_beside()))
    assert len(asked) > 20
    assert asked <= {path.stem for path in SCRIPTS}


def test_each_includes_what_it_needs_and_no_piece_that_is_not_there() -> None:
    for path in SCRIPTS:
        found = INCLUDE.search(text(path))
        assert found is not None, path.name
        assert set(found[1].split()) <= {piece.stem for piece in PIECES}, path.name
        assert not undefined(script(path.stem).source.decode()), path.name


def undefined(source: str) -> set[str]:
    """Names in capitals that nothing has defined: each would be nil when it is met."""
    whole = "\n".join(line.partition("--")[0] for line in source.splitlines())
    words = set(re.findall(r"(?<![\w'\"%.])([A-Z][A-Z_]{2,})\b(?!')", whole))
    known = set(re.findall(r"\blocal ([A-Z_, ]+?)(?: =|$)", whole, re.MULTILINE))
    known = {name for names in known for name in names.split(", ")} | {"KEYS", "ARGV"}
    return words - known


def test_every_piece_is_included() -> None:
    used = {piece for path in SCRIPTS for piece in INCLUDE.findall(text(path))[0].split()}
    assert used == {piece.stem for piece in PIECES}


def test_each_touches_declared_keys_only() -> None:
    calls = [(path.name, *call) for path in SCRIPTS + PIECES for call in CALL.findall(body(path))]
    for name, command, rest in calls:
        if command in WITHOUT_KEYS:
            continue
        key = re.match(r"[\w.]+(?:\[[^,]*?\]+)*", rest)
        assert key is not None, (name, command, rest)
        assert KEY.match(key[0]) or key[0] in LOCAL_KEYS, (name, command, key[0])
        assert not rest[len(key[0]) :].lstrip().startswith(".."), (name, command, rest)


def test_names_that_stand_for_a_key_are_made_from_keys() -> None:
    sources = "\n".join(body(path) for path in SCRIPTS + PIECES)
    assert set(re.findall(r"local TOKEN = (\w+)\[", sources)) == {"KEYS"}
    for table in ("LINE", "LATER"):
        assert set(re.findall(rf"^\s*{table}\[.+\] = (\w+)\[", sources, re.MULTILINE)) == {"KEYS"}
    handed = set(re.findall(r"(?:variadic\('\w+', |\bmany\()(\w+(?:\[\w+\])?),", sources))
    assert len(handed) > 5
    assert {name for name in handed if not KEY.match(name)} == {"key"}


def test_each_runs_on_redis_6_2() -> None:
    for path in SCRIPTS + PIECES:
        written = text(path)
        assert "register_function" not in written, path.name
        assert "#!lua" not in written, path.name
        assert "cjson" not in written, path.name  # what a job carries is never read


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
