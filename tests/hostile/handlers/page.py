"""The table as a page of the documentation.

    python -m tests.hostile.handlers.page    writes its rows into the page

Between two marks of that page stand the rows; what is around them is written by hand.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.hostile.handlers.apps import TABLES
from tests.hostile.handlers.calling import ACTS, ARGUMENTS, OPTIONS, RECORDS, Act, Call
from tests.hostile.handlers.case import EXECUTORS, Case

PAGE = Path(__file__).parents[3] / "docs/explain/misbehaving-handlers.md"
BEGIN, END = "<!-- rows: begin -->\n", "<!-- rows: end -->\n"

STORES = {"sql": " on SQL", "redis": " on Redis", "all": ""}


def rows() -> str:
    """All sections, as Markdown."""
    return "\n".join([*map("\n".join, map(section, TABLES)), *map("\n".join, called())])


def section(table: "list[Case]") -> Iterator[str]:
    yield f"## … {table.title}\n"  # type: ignore[attr-defined]
    yield f"| {table.title.capitalize()} | Declared as | The job is then | Its error |"  # type: ignore[attr-defined]
    yield "| --- | --- | --- | --- |"
    for case in table:
        on = ", ".join(name for letter, name in EXECUTORS.items() if letter in case.on)
        on = "any way" if len(case.on) == len(EXECUTORS) else on
        yield row(case.what, on + STORES[case.stores], f"`{case.state}`", error(case))
    yield ""


def called() -> Iterator[Iterator[str]]:
    yield calls("## When an argument is …", "The argument", ARGUMENTS)
    yield calls("## When an option is …", "The option", OPTIONS)
    yield calls("## When another program has stored …", "What is stored", RECORDS)
    yield calls("## When a call is …", "The call", ACTS)


def calls(heading: str, what: str, these: Iterable[Call | Act]) -> Iterator[str]:
    yield f"{heading}\n"
    yield f"| {what} | What follows | The error |"
    yield "| --- | --- | --- |"
    for call in these:
        state = "it raises" if call.state is None else f"the job is `{call.state}`"
        yield row(call.what, state, error(call))
    yield ""


def error(of: Case | Call | Act) -> str:
    """Its kind, and what is in its text."""
    kind = f"`{of.kind}`" if of.kind else ""
    text = f"“{of.text}”" if of.text else ""
    return " ".join(part for part in (kind, text) if part)


def row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def written(text: str) -> str:
    """The page with the rows as they are now."""
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n{rows()}\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text("utf-8")), "utf-8")
