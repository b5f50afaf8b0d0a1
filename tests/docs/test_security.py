"""What SECURITY.md says is shown by tests is shown by tests that there are."""

import re

import pytest

from tests.docs.pages import ROOT, page, table
from windlass.core.apikey import Role

PAGE = page("SECURITY.md")
NAMED = sorted({*re.findall(r"`(tests/\S+?\.py)::(\w+)`", PAGE)})


@pytest.mark.parametrize("path", sorted({path for path, _ in NAMED}))
def test_every_test_that_is_named_exists(path: str) -> None:
    assert (ROOT / path).exists()
    there = {*re.findall(r"^(?:async )?def (test_\w+)\(", page(path), re.MULTILINE)}
    assert {name for each, name in NAMED if each == path} <= there


def test_each_claim_names_one() -> None:
    claims = [line for line in PAGE.splitlines() if re.match(r"\| (?!at worst|role)", line)]
    assert len(claims) > 15
    for claim in claims:
        assert re.search(r"`tests/\S+?\.py::test_\w+` \|$", claim), claim


def test_nothing_that_looks_like_a_test_is_left_out() -> None:
    assert PAGE.count("tests/") == len(re.findall(r"`tests/\S+?\.py::test_\w+`", PAGE))


def test_nothing_else_is_pickled() -> None:
    source = ROOT / "src" / "windlass"
    named = {
        path.relative_to(source).as_posix()
        for path in source.rglob("*.py")
        if re.search(r"\b(pickle|marshal|shelve|dill|eval\(|exec\()", path.read_text("utf-8"))
    }
    assert {name for name in named if not name.startswith("worker/executors/")} == set()


def test_every_role_is_there() -> None:
    rows = table(PAGE, "### Keys")
    assert [row[0].strip("`") for row in rows] == [role.value for role in Role]


def test_the_pages_that_people_read_first_lead_there() -> None:
    assert "(SECURITY.md)" in page("README.md")
    assert "SECURITY.md" in page("docs/howto/server.md")
