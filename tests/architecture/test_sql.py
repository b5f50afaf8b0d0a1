"""Every `.sql` file explains itself and is used."""

from pathlib import Path

import pytest

from windlass.core.states import FINISHED, State

SOURCE = Path(__file__).parents[2] / "src" / "windlass"
FILES = sorted(SOURCE.rglob("*.sql"))
QUERIES = [path for path in FILES if path.parent.name == "queries"]
BUILT = {'f"find_{state}"': {f"find_{state}" for state in State if state not in FINISHED}}
"""Names that the code puts together, by the expression that does it."""


def relative(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def names_in_use() -> str:
    return "\n".join(path.read_text("utf-8") for path in SOURCE.rglob("*.py"))


def test_there_are_some() -> None:
    assert len(QUERIES) > 30


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_a_header_says_what_it_does(path: Path) -> None:
    first = path.read_text("utf-8").splitlines()[0]
    assert first.startswith("-- ")
    assert first[3].isupper()


@pytest.mark.parametrize("path", QUERIES, ids=relative)
def test_the_code_asks_for_it_by_name(path: Path) -> None:
    code = names_in_use()
    built = any(path.stem in names for written, names in BUILT.items() if written in code)
    assert f'"{path.stem}"' in code or built


@pytest.mark.parametrize("path", QUERIES, ids=relative)
def test_every_named_argument_is_in_the_header(path: Path) -> None:
    lines = path.read_text("utf-8").splitlines()
    header = " ".join(line for line in lines if line.startswith("--"))
    body = " ".join(line for line in lines if not line.startswith("--"))
    arguments = {word.split(":")[1].strip("(),;") for word in body.split() if ":" in word}
    assert not [name for name in arguments if name.isidentifier() and name not in header]


def test_an_engine_overrides_only_what_differs() -> None:
    """A query of its own that says the same as the shared one is no override."""
    for shared in (SOURCE / "stores" / "sql", SOURCE / "history"):
        texts = {path.name: path.read_text("utf-8") for path in shared.glob("queries/*.sql")}
        engines = shared if shared.name == "history" else shared.parent
        own = [path for path in engines.glob("*/queries/*.sql") if path.parents[1] != shared]
        assert texts
        assert not [path for path in own if texts.get(path.name) == path.read_text("utf-8")]
