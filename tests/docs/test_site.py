"""The site has every page in its menu, and every decision says why."""

import re

import pytest

from tests.docs.pages import ROOT, page

DOCS = ROOT / "docs"
DECISIONS = sorted(path.name for path in (DOCS / "adr").glob("0*.md"))


def test_every_page_is_in_the_menu_once() -> None:
    _, _, menu = page("mkdocs.yml").partition("\nnav:\n")
    listed = re.findall(r"^ +- (?:.+: )?(\S+\.md)$", menu, re.MULTILINE)
    assert sorted(listed) == sorted(
        path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")
    )


def test_decisions_are_numbered_without_gaps() -> None:
    assert [name[:5] for name in DECISIONS] == [f"{n:04}-" for n in range(1, len(DECISIONS) + 1)]


@pytest.mark.parametrize("name", DECISIONS)
def test_a_decision_has_its_context_and_its_consequences(name: str) -> None:
    text = page(f"docs/adr/{name}")
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    assert headings[0].startswith(f"{name[:4]}: ")
    assert headings[1:] == ["Context", "Decision", "Consequences"]


def test_the_index_has_every_decision_by_its_title() -> None:
    listed = re.findall(r"^- \[(.+)\]\((.+)\)$", page("docs/adr/index.md"), re.MULTILINE)
    titles = [page(f"docs/adr/{name}").partition("\n")[0] for name in DECISIONS]
    assert listed == [(title[2:], name) for title, name in zip(titles, DECISIONS, strict=True)]
