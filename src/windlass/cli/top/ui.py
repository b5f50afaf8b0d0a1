"""Where the user is: the pane, the row, what is being typed. Pure: a key makes a new one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from .pane import NAMES, Name, Pane, Row

INTERVALS: Final = (0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)

Verb = Literal["quit", "look", "redraw", "pause", "resume", "replay", "cancel"]


class Wish(NamedTuple):
    """What is to be done; `name` is that of a queue or a job."""

    verb: Verb
    name: str = ""


class Choice(msgspec.Struct, frozen=True):
    """The chosen row of a pane; `place` is where it was when it was last seen."""

    key: str | None = None
    place: int = 0


class Open(msgspec.Struct, frozen=True):
    """The row whose details are shown, still there or not; `job` if it has one."""

    pane: Name
    key: str
    job: str | None = None


class Ui(msgspec.Struct, frozen=True, kw_only=True):
    """All that keys change."""

    interval: float = 2.0
    pane: Name = "queues"
    choices: Mapping[Name, Choice] = {}
    filter: str = ""
    typing: str | None = None
    """a filter before it is entered"""
    asking: Wish | None = None
    """what waits for a yes"""
    opened: Open | None = None
    """the row whose details are shown"""
    helping: bool = False
    scroll: int = 0
    """lines that details or help have moved up"""
    message: str = ""

    def choice(self, pane: Name) -> Choice:
        return self.choices.get(pane, Choice())

    @property
    def shown_filter(self) -> str:
        return self.filter if self.typing is None else self.typing


class Shown(NamedTuple):
    """What keys refer to: the panes as they are on the screen."""

    panes: Sequence[Pane]
    page: int = 10
    """rows that fit"""
    bottom: int = 0
    """lines that details or help can be moved up at most"""

    def pane(self, name: Name) -> Pane:
        return next(pane for pane in self.panes if pane.name == name)

    def chosen(self, ui: Ui) -> Row | None:
        pane, choice = self.pane(ui.pane), ui.choice(ui.pane)
        return pane.rows[pane.place(choice.key, choice.place)] if pane.rows else None


def settle(ui: Ui, shown: Shown) -> Ui:
    """Note which rows are chosen now, so that they stay so when others come before them."""
    choices = {}
    for pane in shown.panes:
        before = ui.choice(pane.name)
        place = pane.place(before.key, before.place)
        choices[pane.name] = Choice(pane.rows[place].key, place) if pane.rows else before
    return replace(ui, choices=choices)


def press(ui: Ui, shown: Shown, key: str) -> tuple[Ui, Wish | None]:
    """What a key comes to."""
    if key == "ctrl-c":
        return ui, Wish("quit")
    if key == "ctrl-l":
        return ui, Wish("redraw")
    if ui.typing is not None:
        return _typed(ui, key), None
    if ui.asking is not None:
        wish = ui.asking if key in ("y", "Y") else None
        left = replace(ui, asking=None, message="" if wish else "Nothing was changed.")
        return left, wish
    ui = replace(ui, message="")
    if ui.helping or ui.opened is not None:
        moved = _scrolled(ui, shown, key)
        if moved is not None:
            return moved
    return _commanded(ui, shown, key)


def _typed(ui: Ui, key: str) -> Ui:
    typing = ui.typing or ""
    match key:
        case "enter":
            return replace(ui, filter=typing, typing=None)
        case "escape":
            return replace(ui, typing=None)
        case "backspace":
            return replace(ui, typing=typing[:-1])
        case "ctrl-u":
            return replace(ui, typing="")
    return replace(ui, typing=typing + key) if len(key) == 1 else ui


def _scrolled(ui: Ui, shown: Shown, key: str) -> tuple[Ui, Wish | None] | None:
    """Within details or help; None if the key is for what is behind them."""
    steps = _steps(shown.page)
    if key in ("escape", "enter", "backspace", "q", "?"):
        return replace(ui, helping=False, opened=None, scroll=0), None
    if key in steps:
        return replace(ui, scroll=max(min(ui.scroll + steps[key], shown.bottom), 0)), None
    if key in ("r", "c") and ui.opened is not None:
        return None
    return ui, None


def _commanded(ui: Ui, shown: Shown, key: str) -> tuple[Ui, Wish | None]:
    match key:
        case "q" | "ctrl-d":
            return ui, Wish("quit")
        case "?":
            return replace(ui, helping=True), None
        case "/":
            return replace(ui, typing=ui.filter), None
        case "escape":
            return replace(ui, filter=""), None
        case "+" | "=" | "-":
            return _paced(ui, faster=key == "-"), Wish("look")
        case " ":
            return ui, Wish("look")
        case "enter":
            return _opened(ui, shown)
        case "p" | "r" | "c":
            return _changed(ui, shown, key)
    return _moved(ui, shown, key), None


def _paced(ui: Ui, *, faster: bool) -> Ui:
    others = [each for each in INTERVALS if (each < ui.interval if faster else each > ui.interval)]
    if not others:
        return ui
    interval = max(others) if faster else min(others)
    return replace(ui, interval=interval, message=f"Looks every {interval:g} s from now on.")


def _opened(ui: Ui, shown: Shown) -> tuple[Ui, Wish | None]:
    row = shown.chosen(ui)
    if row is None:
        return ui, None
    opened = Open(ui.pane, row.key, row.job)
    return replace(ui, opened=opened, scroll=0), Wish("look") if row.job else None


def _changed(ui: Ui, shown: Shown, key: str) -> tuple[Ui, Wish | None]:
    row = shown.chosen(ui)
    if key == "p":
        if ui.pane != "queues" or row is None:
            return replace(ui, message="Choose a queue to pause or resume it: 2 goes there."), None
        return ui, Wish("resume" if row.paused else "pause", row.key)
    job = ui.opened.job if ui.opened is not None else row and row.job
    if job is None:
        what = "an error to replay its job: 5" if key == "r" else "an active job to cancel it: 3"
        return replace(ui, message=f"Choose {what} goes there."), None
    if key == "r":
        return ui, Wish("replay", job)
    return replace(ui, asking=Wish("cancel", job)), None


def _moved(ui: Ui, shown: Shown, key: str) -> Ui:
    match key:
        case "tab" | "right" | "l":
            return _pane(ui, 1)
        case "backtab" | "left" | "h":
            return _pane(ui, -1)
        case "1" | "2" | "3" | "4" | "5":
            return replace(ui, pane=NAMES[int(key) - 1])
    steps = _steps(shown.page)
    pane = shown.pane(ui.pane)
    if key not in steps or not pane.rows:
        return ui
    before = ui.choice(ui.pane)
    place = pane.place(before.key, before.place) + steps[key]
    place = max(min(place, len(pane.rows) - 1), 0)
    choice = Choice(pane.rows[place].key, place)
    return replace(ui, choices={**ui.choices, ui.pane: choice})


def _pane(ui: Ui, step: int) -> Ui:
    return replace(ui, pane=NAMES[(NAMES.index(ui.pane) + step) % len(NAMES)])


def _steps(page: int) -> Mapping[str, int]:
    """How far the keys move that move up and down."""
    far, page = 1_000_000, max(page - 1, 1)
    names = {"up": -1, "down": 1, "pageup": -page, "pagedown": page, "home": -far, "end": far}
    return names | {"k": -1, "j": 1, "g": -far, "G": far}
