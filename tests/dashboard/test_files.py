"""The files of the dashboard, as they are shipped."""

import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import windlass
from windlass.core.states import (
    DELETABLE,
    FINISHED,
    LIVE,
    REPLAYABLE,
    RESCHEDULABLE,
    WAITING,
    State,
)

UI = Path(windlass.__file__).parent / "server" / "ui"
VENDOR = UI / "vendor"
OWN = sorted(
    path for path in UI.rglob("*") if path.suffix in (".js", ".css") and VENDOR not in path.parents
)
IMPORT = re.compile(
    r"""(?:^|\})\s*(?:import|export)?[^;"'`]*?\bfrom\s*"(\.[^"]+)";""", re.MULTILINE
)
LIMIT = 300


def imports(path: Path) -> Iterator[Path]:
    for address in IMPORT.findall(path.read_text("utf-8")):
        yield (path.parent / address).resolve()


def needed(path: Path, known: set[Path]) -> set[Path]:
    """What a module imports, and what that imports."""
    for each in imports(path):
        if each not in known:
            known.add(each)
            needed(each, known)
    return known


def test_files_are_short_and_say_what_they_are_for() -> None:
    for path in OWN:
        text = path.read_text("utf-8")
        assert len(text.splitlines()) <= LIMIT, path
        assert text.startswith(("/*", "//")), path


def test_nothing_becomes_markup_and_nothing_is_fetched_from_elsewhere() -> None:
    for path in [*OWN, UI / "index.html"]:
        text = path.read_text("utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write", text), path
        assert not re.search(r"\beval\(|new Function|dangerouslySetInnerHTML", text), path
        assert not re.search(r"https?://|@import", text), path
    page = (UI / "index.html").read_text("utf-8")
    assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)", page)


def test_all_that_the_first_module_imports_is_fetched_at_once() -> None:
    page = (UI / "index.html").read_text("utf-8")
    announced = re.findall(r'rel="modulepreload" href="assets/([^"]+)"', page)
    found = {path.relative_to(UI).as_posix() for path in needed(UI / "main.js", set())}
    assert sorted(announced) == sorted(found)


def test_every_module_is_used() -> None:
    text = "".join(path.read_text("utf-8") for path in OWN)
    loaded = {path for path in OWN if f'"./views/{path.name}"' in text}
    used = loaded | needed(UI / "main.js", set())
    for path in loaded:
        needed(path, used)
    scripts = {path for path in OWN if path.suffix == ".js"}
    assert scripts - used == {UI / "main.js", UI / "first.js"}


def test_the_libraries_are_as_they_were_when_they_were_taken_over() -> None:
    lines = (VENDOR / "SHA256SUMS").read_text("utf-8").splitlines()
    sums = {name: digest for digest, name in map(str.split, lines)}
    files = {f"./{path.name}": path for path in VENDOR.glob("*.js")}
    assert sums == {name: sha256(path.read_bytes()).hexdigest() for name, path in files.items()}
    assert {path.name for path in VENDOR.glob("*.LICENSE")} == {"htm.LICENSE", "preact.LICENSE"}


def test_the_page_allows_what_the_core_allows() -> None:
    text = (UI / "states.js").read_text("utf-8")

    def listed(name: str) -> set[State]:
        found = re.search(rf"\b{name}(?: =|:) \[([^\]]*)\]", text)
        assert found, name
        inner = found[1].replace("...WAITING", ", ".join(f'"{each}"' for each in WAITING))
        inner = inner.replace("...FINISHED", ", ".join(f'"{each}"' for each in FINISHED))
        return {State(each) for each in re.findall(r'"(\w+)"', inner)}

    assert listed("STATES") == {*State}
    assert listed("WAITING") == WAITING
    assert listed("FINISHED") == FINISHED
    assert listed("cancel") == LIVE
    assert listed("replay") == REPLAYABLE
    assert listed("delete") == DELETABLE
    assert listed("reschedule") == RESCHEDULABLE
    assert "priority: WAITING," in text
