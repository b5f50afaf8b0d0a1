"""Every `.sql` file explains itself and is used."""

import re
from pathlib import Path

from windlass.core.states import FINISHED, State

SOURCE = Path(__file__).parents[2] / "src" / "windlass"
FILES = sorted(SOURCE.rglob("*.sql"))
QUERIES = [path for path in FILES if path.parent.name == "queries"]
BUILT = {'f"find_{state}"': {f"find_{state}" for state in State if state not in FINISHED}}
"""Names that the code puts together, by the expression that does it."""


def relative(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def test_there_are_some() -> None:
    assert len(QUERIES) > 30


def test_a_header_says_what_each_does() -> None:
    first = {relative(path): path.read_text("utf-8").partition("\n")[0] for path in FILES}
    assert not [
        name for name, line in first.items() if not (line.startswith("-- ") and line[3:4].isupper())
    ]


def test_the_code_asks_for_each_by_name() -> None:
    code = "\n".join(path.read_text("utf-8") for path in SOURCE.rglob("*.py"))
    asked = {*re.findall(r'"(\w+)"', code)}
    asked |= {name for written, names in BUILT.items() if written in code for name in names}
    assert not [relative(path) for path in QUERIES if path.stem not in asked]


def test_every_named_argument_is_in_the_header() -> None:
    assert not {relative(path): names for path in QUERIES if (names := unexplained(path))}


def unexplained(path: Path) -> list[str]:
    """The arguments of a query that its header does not name."""
    lines = path.read_text("utf-8").splitlines()
    header = " ".join(line for line in lines if line.startswith("--"))
    body = " ".join(line for line in lines if not line.startswith("--"))
    arguments = {word.split(":")[1].strip("(),;") for word in body.split() if ":" in word}
    return [name for name in arguments if name.isidentifier() and name not in header]


def test_an_engine_overrides_only_what_differs() -> None:
    """A query of its own that says the same as the shared one is no override."""
    for shared in (SOURCE / "stores" / "sql", SOURCE / "history"):
        texts = {path.name: path.read_text("utf-8") for path in shared.glob("queries/*.sql")}
        engines = shared if shared.name == "history" else shared.parent
        own = [path for path in engines.glob("*/queries/*.sql") if path.parents[1] != shared]
        assert texts
        assert not [path for path in own if texts.get(path.name) == path.read_text("utf-8")]
