"""What keys come to, on panes that are computed from a look."""

from collections.abc import Sequence

import pytest

from tests.cli.top.samples import busy, job, look, queue
from windlass.cli.top.rows import panes
from windlass.cli.top.ui import Choice, Open, Shown, Ui, Wish, press, settle
from windlass.core.states import State

SHOWN = Shown(panes(busy()), page=3, bottom=20)


def after(*keys: str, ui: Ui | None = None, shown: Shown = SHOWN) -> tuple[Ui, Wish | None]:
    """Where the user is after these keys, and the wish of the last one."""
    at, wish = settle(ui or Ui(), shown), None
    for key in keys:
        at, wish = press(at, shown, key)
    return at, wish


def many(names: Sequence[str]) -> Shown:
    return Shown(panes(look(*(queue(name, pending=1) for name in names))), page=3)


def chosen(ui: Ui) -> str | None:
    return ui.choice(ui.pane).key


@pytest.mark.parametrize(
    ("keys", "pane"),
    [
        ((), "queues"),
        (("tab",), "active"),
        (("right", "l", "tab"), "errors"),
        (("tab", "tab", "tab", "tab"), "alerts"),
        (("backtab",), "alerts"),
        (("left", "h"), "errors"),
        (("1",), "alerts"),
        (("5", "2"), "queues"),
        (("4",), "workers"),
    ],
)
def test_panes_are_reached_in_turn_and_by_their_numbers(keys: Sequence[str], pane: str) -> None:
    assert after(*keys)[0].pane == pane


@pytest.mark.parametrize(
    ("keys", "place"),
    [
        ("", 0),
        ("jj", 2),
        ("jjk", 1),
        ("k", 0),
        ("G", 9),
        ("Gg", 0),
        (("pagedown",), 2),
        (("pagedown", "pagedown", "pageup"), 2),
        (("end", "down"), 9),
        (("end", "home", "down", "up"), 0),
    ],
)
def test_rows_are_moved_over_one_by_one_by_page_and_to_the_ends(
    keys: Sequence[str], place: int
) -> None:
    ui, _ = after(*keys, shown=many([f"q{n}" for n in range(10)]))
    assert chosen(ui) == f"q{place}"


def test_a_row_stays_chosen_while_others_come_before_it() -> None:
    ui, _ = after("j", shown=many(["b", "d"]))
    later = settle(ui, many(["a", "b", "c", "d"]))
    assert later.choice("queues") == Choice("d", 3)


def test_where_a_chosen_row_is_gone_what_took_its_place_is_chosen() -> None:
    ui, _ = after("j", shown=many(["a", "b", "c"]))
    assert settle(ui, many(["a", "c"])).choice("queues") == Choice("c", 1)
    assert settle(ui, many(["a"])).choice("queues") == Choice("a", 0)
    gone = settle(ui, many([]))
    assert settle(gone, many(["a", "b"])).choice("queues").key == "b"


def test_p_pauses_the_chosen_queue_and_resumes_one_that_is_paused() -> None:
    assert after("p")[1] == Wish("pause", "mail")
    assert after("j", "p")[1] == Wish("resume", "reports")
    ui, wish = after("3", "p")
    assert wish is None and "Choose a queue" in ui.message
    assert after("p", shown=many([]))[1] is None


def test_r_replays_the_chosen_error() -> None:
    assert after("5", "r")[1] == Wish("replay", "d1")
    ui, wish = after("2", "r")
    assert wish is None and "Choose an error" in ui.message


@pytest.mark.parametrize(("answer", "wish"), [("y", Wish("cancel", "a1")), ("n", None)])
def test_c_cancels_the_chosen_job_after_a_yes(answer: str, wish: Wish | None) -> None:
    ui, nothing = after("3", "c")
    assert nothing is None and ui.asking == Wish("cancel", "a1")
    ui, done = after(answer, ui=ui)
    assert (done, ui.asking) == (wish, None)
    assert ui.message == ("" if wish else "Nothing was changed.")


def test_no_key_but_y_is_a_yes_not_even_enter_or_quit() -> None:
    for key in ("enter", "q", " ", "escape", "c", "tab"):
        ui, wish = after("3", "c", key)
        assert (wish, ui.asking, ui.pane) == (None, None, "active")


def test_what_is_asked_about_stays_the_same_while_rows_move() -> None:
    ui, _ = after("3", "c")
    moved = Shown(panes(look(active=[job("new", State.ACTIVE), job("a1", State.ACTIVE)])))
    assert press(settle(ui, moved), moved, "y")[1] == Wish("cancel", "a1")


def test_c_where_there_is_no_job_says_where_they_are() -> None:
    ui, wish = after("4", "c")
    assert wish is None and ui.asking is None and "Choose an active job" in ui.message
    assert press(ui, SHOWN, "tab")[0].message == ""


def test_enter_opens_the_chosen_row_and_again_closes_it() -> None:
    ui, wish = after("enter")
    assert (ui.opened, wish) == (Open("queues", "mail"), None)
    ui, wish = after("3", "enter")
    assert (ui.opened, wish) == (Open("active", "a1", "a1"), Wish("look"))
    assert [after("3", "enter", key)[0].opened for key in ("enter", "escape", "q")] == [None] * 3
    assert after("enter", shown=many([]))[0].opened is None


def test_an_open_job_can_be_replayed_and_cancelled_even_when_its_row_is_gone() -> None:
    ui, _ = after("5", "enter")
    empty = many([])
    assert press(settle(ui, empty), empty, "r")[1] == Wish("replay", "d1")
    asked, _ = press(settle(ui, empty), empty, "c")
    assert press(asked, empty, "y")[1] == Wish("cancel", "d1")
    opened, _ = after("enter")
    assert "Choose" in press(opened, SHOWN, "r")[0].message


def test_details_and_help_scroll_as_far_as_they_go() -> None:
    ui, _ = after("?", "j", "down", "pagedown")
    assert (ui.helping, ui.scroll) == (True, 4)
    assert after("?", "end")[0].scroll == 20
    assert after("?", "end", "k", "home", "k")[0].scroll == 0
    assert after("?", "j", "escape")[0] == after()[0]
    assert after("?", "tab", "p")[0].pane == "queues"


def test_a_filter_is_shown_while_it_is_typed_and_holds_when_it_is_entered() -> None:
    ui, _ = after("/", "q", "ü", "x", "backspace")
    assert (ui.typing, ui.filter, ui.shown_filter) == ("qü", "", "qü")
    ui, _ = after("enter", ui=ui)
    assert (ui.typing, ui.filter) == (None, "qü")
    assert after("/", "!", ui=ui)[0].typing == "qü!"
    assert after("/", "!", "escape", ui=ui)[0].shown_filter == "qü"
    assert after("/", "ctrl-u", "a", "up", ui=ui)[0].typing == "a"
    assert after("escape", ui=ui)[0].filter == ""


def test_the_interval_goes_up_and_down_between_its_ends() -> None:
    ui, wish = after("+")
    assert (ui.interval, wish) == (5.0, Wish("look"))
    assert after("-")[0].interval == 1.0
    assert after(*"--------")[0].interval == 0.5
    assert after(*"=========")[0].interval == 60.0
    assert after("+", ui=Ui(interval=7.0))[0].interval == 10.0


@pytest.mark.parametrize(
    ("key", "verb"),
    [("q", "quit"), ("ctrl-d", "quit"), ("ctrl-c", "quit"), (" ", "look"), ("ctrl-l", "redraw")],
)
def test_other_keys(key: str, verb: str) -> None:
    assert after(key)[1] == Wish(verb)  # type: ignore[arg-type]


def test_ctrl_c_quits_from_everywhere() -> None:
    for keys in (("?",), ("/",), ("3", "c"), ("enter",)):
        assert after(*keys, "ctrl-c")[1] == Wish("quit")


def test_keys_that_mean_nothing_change_nothing() -> None:
    assert after("x", "Z", "ü", "9") == (after()[0], None)
