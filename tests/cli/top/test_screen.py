"""What is sent to the terminal for a frame."""

from msgspec.structs import replace

from tests.cli.top.samples import busy
from windlass.cli.top.frame import Span, Style
from windlass.cli.top.layout import Scene, draw
from windlass.cli.top.rows import panes
from windlass.cli.top.screen import COLOURS, NO_COLOURS, Painter
from windlass.cli.top.stage import styles
from windlass.cli.top.ui import Ui

ONE = [(Span("jobs "), Span("  1")), (Span("all is well", Style.GOOD),)]


def test_the_first_frame_is_drawn_whole_on_an_empty_screen() -> None:
    sent = Painter().paint(ONE)
    assert sent.startswith("\x1b[0m\x1b[2J\x1b[1;1H\x1b[2Kjobs   1")
    assert sent.endswith("\x1b[2;1H\x1b[2K\x1b[32mall is well\x1b[0m")


def test_of_the_next_one_only_what_changed_is_sent() -> None:
    painter = Painter()
    painter.paint(ONE)
    assert painter.paint(ONE) == ""
    two = [(Span("jobs "), Span("  2")), ONE[1]]
    assert painter.paint(two) == "\x1b[1;6H  2"


def test_a_line_with_other_columns_is_drawn_anew_and_no_other() -> None:
    painter = Painter()
    painter.paint(ONE)
    two = [ONE[0], (Span("gone", Style.BAD),)]
    assert painter.paint(two) == "\x1b[2;1H\x1b[2K\x1b[31mgone\x1b[0m"


def test_a_piece_that_only_looks_different_is_sent() -> None:
    painter = Painter()
    painter.paint(ONE)
    two = [ONE[0], (Span("all is well", Style.BAD),)]
    assert painter.paint(two) == "\x1b[2;1H\x1b[31mall is well\x1b[0m"


def test_after_a_change_of_size_or_on_demand_all_of_it_is_drawn() -> None:
    painter = Painter()
    whole = painter.paint(ONE)
    assert "jobs" in painter.paint([*ONE, ()])
    painter.paint(ONE)
    painter.forget()
    assert painter.paint(ONE) == whole


def test_without_colours_there_are_none_and_what_is_chosen_still_shows() -> None:
    frame = [(Span("red", Style.BAD), Span("green", Style.GOOD), Span("this", Style.CHOSEN))]
    sent = Painter(NO_COLOURS).paint(frame)
    assert "\x1b[31m" not in sent and "\x1b[32m" not in sent
    assert "\x1b[7mthis" in sent


def test_colours_are_of_the_first_eight() -> None:
    assert {code for code in COLOURS.values() if code} <= {"1", "2", "7", "31", "32", "33"}


def test_who_wants_no_colours_or_has_none_gets_none() -> None:
    assert styles({"TERM": "xterm"}) is COLOURS
    assert styles({"TERM": "linux", "NO_COLOR": ""}) is COLOURS
    assert styles({"TERM": "xterm", "NO_COLOR": "1"}) is NO_COLOURS
    assert styles({"TERM": "vt100"}) is NO_COLOURS


def test_a_look_at_a_store_that_is_busy_costs_little_traffic() -> None:
    found, painter = busy(), Painter()
    later = replace(found, situation=replace(found.situation, now=found.now + 2_000))
    first, second = (
        draw(Scene(Ui(), each, panes(each), "redis://localhost"), 80, 24).frame
        for each in (found, later)
    )
    assert len(painter.paint(first).encode()) < 3_000
    assert 0 < len(painter.paint(second).encode()) < 300
