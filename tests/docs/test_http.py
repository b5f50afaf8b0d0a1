"""What the pages say of the HTTP API is what the server does."""

import inspect
import re
import shlex

import msgspec
import pytest

from tests.docs.pages import PAGES, blocks, commands, name_of, page, table
from windlass.config import ServerSettings
from windlass.core.apikey import IMPLIED, Role
from windlass.core.bigint import CODE as BIG_INTEGER
from windlass.core.name import MAX_NAME_LENGTH
from windlass.server.faults import TABLE
from windlass.server.http.bulk import MOST as MOST_CHANGED
from windlass.server.http.events import MOST_FOLLOWED
from windlass.server.http.jobs import MOST_LISTED
from windlass.server.http.problem import Problem
from windlass.server.http.queues import MOST_PURGED
from windlass.server.http.route import Route
from windlass.server.http.routes import ROUTES
from windlass.server.http.sse import ALIVE, RETRY
from windlass.server.offer import JobRequest

REFERENCE = "docs/reference/http.md"
HOWTO = "docs/howto/server.md"

ASKED = [
    pytest.param(command, id=f"{name_of(path)}: {command[:60]}")
    for path in PAGES
    for block in blocks(path)
    if block.language == "sh"
    for command in commands(block)
    if command.startswith("curl ")
]


def words(cell: str) -> list[str]:
    """Each thing that a cell has between backticks."""
    return re.findall(r"`(.+?)`", cell)


def test_every_address_is_listed_with_its_role_and_purpose() -> None:
    rows = table(page(REFERENCE), "## Addresses")
    assert [[cell.strip("`") for cell in row] for row in rows] == [
        [each.method, each.path, rule(each), purpose(each)] for each in ROUTES
    ]


def rule(route: Route) -> str:
    if route.role is not None:
        return route.role
    return "everybody" if route.is_public else "any key"


def purpose(route: Route) -> str:
    return (inspect.getdoc(route.handler) or "").partition("\n")[0]


def test_every_role_is_listed_with_all_that_it_includes() -> None:
    rows = table(page(REFERENCE), "## Roles")
    assert {row[0].strip("`"): set(words(row[1])) for row in rows} == {
        role.value: {each.value for each in implied} for role, implied in IMPLIED.items()
    }


def test_the_guide_has_every_role() -> None:
    rows = table(page(HOWTO), "## Keys")
    assert [row[0].strip("`") for row in rows] == [role.value for role in Role]


def test_every_field_of_a_job_is_listed() -> None:
    rows = table(page(REFERENCE), "## A job")
    assert [row[0].strip("`") for row in rows] == list(JobRequest.__struct_fields__)


def test_every_field_of_a_problem_is_listed() -> None:
    rows = table(page(REFERENCE), "## Problems")
    assert [row[0].strip("`") for row in rows] == list(Problem.__struct_fields__)


def test_every_status_is_listed_with_its_errors() -> None:
    rows = table(page(REFERENCE), "### Statuses")
    known: dict[int, list[str]] = {}
    for kind, status, _ in TABLE:
        known.setdefault(status, []).append(kind.__name__)
    assert {int(row[0]): words(row[1]) for row in rows} == known
    assert [int(row[0]) for row in rows] == sorted(known)


def test_the_numbers_are_those_of_the_server() -> None:
    text = page(REFERENCE)
    for said in (
        f"100 by default and {MOST_LISTED:,} at most",
        f"at most {MOST_CHANGED:,} jobs",
        f"A purge changes at most {MOST_PURGED:,} by one request",
        f"at most {MOST_FOLLOWED} times",
        f"After {ALIVE:g} seconds of silence",
        f"`{RETRY.decode().strip()}`",
        f"a text of up to {MAX_NAME_LENGTH} characters",
        f"an extension of the type {BIG_INTEGER}",
    ):
        assert said in text.replace("\n", " "), said


def test_every_bound_is_a_setting() -> None:
    rows = table(page(HOWTO), "## Bounds")
    named = {name for row in rows for name in words(row[1])} - {"Windlass(max_payload=…)"}
    settings = {field.name for field in msgspec.structs.fields(ServerSettings)}
    bounds = {name for name in settings if name.startswith("max_") or name.endswith("_timeout")}
    assert named == bounds - {"shutdown_timeout"} | {"keep_alive", "rate"}


@pytest.mark.parametrize("command", ASKED)
def test_a_request_on_a_page_has_an_address(command: str) -> None:
    assert address(command) in {(each.method, each.path) for each in ROUTES}


def test_a_wrong_request_is_noticed() -> None:
    for wrong in ("curl -s localhost:8080/api/v1/job/a", "curl -s -X PUT localhost:8080/livez"):
        with pytest.raises(AssertionError):
            test_a_request_on_a_page_has_an_address(wrong)


def address(command: str) -> tuple[str, str]:
    """The row of the table that a request is for; itself if there is none."""
    given = shlex.split(command)
    asked = [found[1] for word in given if (found := re.match(r"localhost:\d+([^?]+)", word))]
    assert len(asked) == 1, f"{command!r} asks for nothing, or for several things"
    posts = "--json" in given
    method = given[given.index("-X") + 1] if "-X" in given else "POST" if posts else "GET"
    # What is fixed comes before what is not, as in the router.
    for path in sorted({each.path for each in ROUTES}, key=lambda path: path.count("{")):
        if re.fullmatch(re.sub(r"{\w+}", "[^/]+", path), asked[0]):
            return method, path
    return method, asked[0]
