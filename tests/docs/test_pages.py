"""Every page can be followed, from top to bottom."""

import re
import sys
import tomllib
from pathlib import Path

import pytest

from tests.docs.pages import LANGUAGES, PAGES, ROOT, blocks, name_of, prose
from tests.docs.session import Session

EVERY_PAGE = pytest.mark.parametrize("page", PAGES, ids=name_of)
BY_HAND = {"docs/howto/other-languages.md"}
"""Pages that are followed in a shell alone."""

RUNNABLE = [
    page
    for page in PAGES
    if name_of(page) in BY_HAND or any(block.language == "python" for block in blocks(page))
]

_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")


@pytest.mark.parametrize("page", RUNNABLE, ids=name_of)
def test_its_code_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    # A file that is written anew within a second would be taken for the one that was compiled.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setenv("WINDLASS_URL", f"sqlite:///{tmp_path}/windlass.db")
    with Session(tmp_path) as session:
        session.run(page)


@EVERY_PAGE
def test_its_files_can_be_read(page: Path) -> None:
    for block in blocks(page):
        if block.language == "python":
            compile(block.text, f"{name_of(page)}:{block.line}", "exec", dont_inherit=True)
        elif block.language == "toml":
            tomllib.loads(block.text)


@EVERY_PAGE
def test_its_blocks_say_what_they_are(page: Path) -> None:
    for block in blocks(page):
        assert block.language in LANGUAGES, f"{page}:{block.line}"
        assert block.title is None or block.language in ("python", "toml")


@EVERY_PAGE
def test_its_links_lead_somewhere(page: Path) -> None:
    for target in _LINK.findall(prose(page)):
        if target.startswith(("https://", "mailto:")):
            continue
        path, _, anchor = target.partition("#")
        found = (page.parent / path).resolve() if path else page
        assert found.exists(), f"{name_of(page)} links to {target}"
        assert not anchor or anchor in anchors(found), f"{name_of(page)} links to {target}"


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings}


@EVERY_PAGE
def test_a_page_of_the_site_links_to_nothing_outside_of_it(page: Path) -> None:
    docs = ROOT / "docs"
    if docs in page.parents:
        for target in _LINK.findall(prose(page)):
            path = target.partition("#")[0]
            if path and "://" not in path:
                assert docs in (page.parent / path).resolve().parents, target


def test_every_page_of_the_site_can_be_reached() -> None:
    start = ROOT / "docs" / "index.md"
    seen, ahead = {start}, [start]
    while ahead:
        page = ahead.pop()
        for target in _LINK.findall(prose(page)):
            path = (page.parent / target.partition("#")[0]).resolve()
            if path.suffix == ".md" and path not in seen:
                seen.add(path)
                ahead.append(path)
    assert not [name_of(page) for page in PAGES if "docs" in page.parts and page not in seen]
