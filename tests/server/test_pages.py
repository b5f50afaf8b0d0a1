"""The description of the API, and the page that people read."""

import re
from html.parser import HTMLParser

from tests.server.serving import Served
from windlass.server.faults import KINDS, TABLE, UNEXPECTED, fault_of
from windlass.server.http.problem import problem_of, slug
from windlass.server.http.routes import ROUTES


class Anchors(HTMLParser):
    """What a page has and what it points to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: set[str] = set()
        self.tags: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.add(tag)
        self.ids |= {id for id in [given.get("id")] if id}
        self.links |= {link for link in [given.get("href")] if link}


async def test_the_description_is_served(bare: Served) -> None:
    answer = await bare.get("openapi.json")
    assert (answer.status, answer.headers["Content-Type"]) == (200, "application/json")
    assert answer.json["openapi"] == "3.1.0"
    assert answer.json["info"]["title"] == "Windlass"


async def test_the_page_has_every_route_and_no_dead_links(bare: Served) -> None:
    answer = await bare.get("/docs")
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    text = answer.body.decode()
    page = Anchors(text)
    assert "script" not in page.tags
    for row in ROUTES:
        assert f"<code>{row.path}</code>" in text
    inside = {link.removeprefix("#") for link in page.links if link.startswith("#")}
    assert inside <= page.ids
    assert {link for link in page.links if not link.startswith("#")} == {"api/v1/openapi.json"}


async def test_every_type_of_problem_is_described_where_it_points_to(bare: Served) -> None:
    page = Anchors((await bare.get("/docs")).body.decode())
    for kind in KINDS:
        error = kind("x") if kind.__name__ != "Throttled" else kind("x", after=1.0)  # type: ignore[call-arg]
        problem = problem_of(fault_of(error))
        path, _, anchor = problem.type.partition("#")
        assert path == "/docs"
        assert anchor in page.ids, problem
    assert problem_of(UNEXPECTED).type.partition("#")[2] in page.ids


def test_every_kind_of_error_has_a_status_and_a_sentence() -> None:
    for kind, status, code in TABLE:
        assert 400 <= status < 600
        assert 0 < code <= 16
        assert kind.__doc__
    assert slug("UnknownJob") == "unknown-job"


def test_no_function_that_answers_is_without_a_word_about_itself() -> None:
    for row in ROUTES:
        doc = row.handler.__doc__
        assert doc, row.name
        assert re.match(r"[A-Z].*\.$", doc.partition("\n")[0]), row.name
