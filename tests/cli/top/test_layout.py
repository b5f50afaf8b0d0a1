"""What goes where, on screens of any size."""

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.cli.top.samples import NOW, busy, look, queue
from windlass.cli.top.frame import Frame, Style, plain, wrap
from windlass.cli.top.header import Trouble
from windlass.cli.top.layout import ASCII, FANCY, HELP, Drawn, Scene, draw, share, sheet
from windlass.cli.top.look import Look, Opened
from windlass.cli.top.pane import NAMES, Name
from windlass.cli.top.rows import panes
from windlass.cli.top.ui import Choice, Open, Shown, Ui, Wish, settle
from windlass.core.stats import StatPoint

WHERE = "redis://localhost/0"


def scene(found: Look | None, ui: Ui | None = None, **more: object) -> Scene:
    rows = panes(found) if found is not None else ()
    made = settle(ui or Ui(), Shown(rows)) if found is not None else ui or Ui()
    return Scene(made, found, rows, WHERE, **more)  # type: ignore[arg-type]


def drawn(found: Look | None, width: int = 80, height: int = 24, **more: object) -> Drawn:
    return draw(scene(found, **more), width, height)  # type: ignore[arg-type]


def text(frame: Frame) -> list[str]:
    return plain(frame).split("\n")


def test_80_by_24_has_every_pane_and_its_rows() -> None:
    lines = text(drawn(busy()).frame)
    assert len(lines) == 24 and max(map(len, lines)) <= 80
    assert lines[0].startswith("windlass top redis://localhost/0") and lines[0].endswith(
        "08:00:00Z every 2 s"
    )
    assert lines[1].startswith("workers 2 (2/20 busy)  pending 1,237  active 2  retry 1  dead 12k")
    assert lines[2].startswith("completed 5.0/s") and "failed 6/min" in lines[2]
    for title in ("Attention", "Queues 2", "Active 2", "Workers 2", "Errors, 12,345 dead"):
        assert any(title in line for line in lines)
    for row in ("mail", "reports", "45 % half way", "w1.example.com", "no such address"):
        assert any(row in line for line in lines)
    assert lines[-1].startswith("? help  q quit")


def test_the_chosen_row_is_marked_without_colours_too() -> None:
    frame = drawn(busy()).frame
    (marked,) = [line for line in frame if line and line[0].style is Style.CHOSEN]
    assert plain([marked]).startswith("> mail")
    assert {piece.style for piece in marked} == {Style.CHOSEN}
    assert [line for line in text(frame) if line.startswith("▸ Queues")]


@settings(max_examples=30)
@given(
    width=st.integers(20, 200),
    height=st.integers(5, 60),
    pane=st.sampled_from(NAMES),
    helping=st.booleans(),
)
def test_no_frame_is_larger_than_its_screen(
    width: int, height: int, pane: Name, helping: bool
) -> None:
    frame = drawn(busy(), width, height, ui=Ui(pane=pane, helping=helping)).frame
    assert len(frame) == height
    assert all(sum(piece.width for piece in line) <= width for line in frame)


@given(
    rows=st.fixed_dictionaries({name: st.integers(0, 200) for name in NAMES}),
    focus=st.sampled_from(NAMES),
    room=st.integers(0, 100),
)
def test_panes_share_what_there_is(rows: Mapping[Name, int], focus: Name, room: int) -> None:
    heights = share(rows, focus, room)
    used = sum(height + 1 for height in heights.values())
    assert used <= max(room, 1)
    assert heights[focus] >= min(max(rows[focus], 1), max(room - 1, 0), 2)
    wanted = sum(max(number, 1) + 1 for number in rows.values())
    assert used == min(room, wanted) or min(heights.values()) == -1


def test_the_pane_that_the_user_is_in_gets_what_the_others_leave() -> None:
    many = {"alerts": 10, "queues": 10, "active": 10, "workers": 10, "errors": 10}
    rows: Mapping[Name, int] = many  # type: ignore[assignment]
    assert share(rows, "errors", 21) == {**dict.fromkeys(NAMES, 2), "errors": 8}
    assert share(rows, "errors", 9) == {**dict.fromkeys(NAMES, 0), "errors": 4}
    assert share(rows, "errors", 6) == {**dict.fromkeys(NAMES, -1), "errors": 5}


def test_a_long_pane_is_scrolled_to_the_chosen_row() -> None:
    found = look(*(queue(f"q{n:03}", pending=1) for n in range(300)))
    made = drawn(found, ui=Ui(choices={"queues": Choice("q150")}))
    assert "q150" in made.rows["queues"]
    assert any(line.startswith("> q150") for line in text(made.frame))
    assert made.shown.page == len(made.rows["queues"])


def test_before_the_first_look_there_is_a_title_and_the_keys() -> None:
    lines = text(drawn(None).frame)
    assert "--:--:--" in lines[0] and lines[-1].startswith("? help")
    assert not any(lines[1:-1])


def test_trouble_with_the_store_is_told_above_what_was_found_before() -> None:
    trouble = Trouble("The store does not\nanswer.", 5_000)
    frame = drawn(busy(), trouble=trouble).frame
    assert text(frame)[1] == "For 5 s: The store does not answer."
    assert frame[1][0].style is Style.BAD
    assert any("mail" in line for line in text(frame))
    long = drawn(busy(), trouble=Trouble("Nothing answers. " * 50)).frame
    assert [line[0].style is Style.BAD for line in long[1:5]] == [True, True, True, False]


@pytest.mark.parametrize(
    ("ui", "last"),
    [
        (Ui(typing="ma"), "filter: ma_"),
        (
            Ui(asking=Wish("cancel", "a1")),
            "Cancel the job a1? y cancels it, any other key does not.",
        ),
        (Ui(message="Paused the queue mail."), "Paused the queue mail."),
        (Ui(filter="mail"), "filter: mail  Escape shows all  ? help  q quit"),
        (Ui(helping=True), "Escape back  up, down scroll"),
        (Ui(opened=Open("active", "a1", "a1")), "Escape back  up, down scroll  r replay  c cancel"),
    ],
)
def test_the_last_line_says_what_is_going_on(ui: Ui, last: str) -> None:
    assert text(drawn(busy(), ui=ui).frame)[-1] == last


def test_help_names_every_key_and_scrolls_where_it_is_too_long() -> None:
    lines = text(drawn(busy(), ui=Ui(helping=True)).frame)
    assert lines[3:16] == HELP.splitlines()
    small = drawn(busy(), height=10, ui=Ui(helping=True, scroll=999))
    assert small.shown.bottom == 13 - 6
    assert text(small.frame)[-2].startswith("q ")


def test_details_of_a_queue_have_all_its_states_and_its_workers() -> None:
    lines = text(drawn(busy(), ui=Ui(opened=Open("queues", "mail"))).frame)
    assert "dead       12,345" in lines and "blocked    0" in lines and "paused     no" in lines
    assert "oldest     has been waiting for 1 min" in lines
    assert "rate       42/min completed, 0/s failed" in lines
    assert "           w1.example.com:4711 w1" in lines


def test_details_of_a_queue_have_how_long_its_jobs_ran_and_waited() -> None:
    counts = {"run:7": 10, "wait:3": 100}
    found = look(queue("mail"), points={"mail": [StatPoint(NOW, "mail", counts)]})
    lines = text(drawn(found, ui=Ui(opened=Open("queues", "mail"))).frame)
    assert "run        half of the runs took 0.75 s at most, 95 % 0.97 s" in lines
    assert "wait       half of the jobs waited 0.038 s at most, 95 % 0.049 s" in lines


def test_details_of_a_worker_have_its_jobs() -> None:
    lines = text(drawn(busy(), ui=Ui(opened=Open("workers", "w1"))).frame)
    assert "slots      2 of 10 busy" in lines
    assert "           send a1, 1 min" in lines
    quiet = text(drawn(busy(), ui=Ui(opened=Open("workers", "w2"))).frame)
    assert "memory     123 MB" in quiet and "quiet      it claims no more jobs" in quiet


def test_details_of_an_alert_have_its_whole_sentence() -> None:
    found = look(queue("a-queue-with-a-long-name", pending=5), oldest={})
    ui = Ui(opened=Open("alerts", "no_worker a-queue-with-a-long-name"))
    lines = text(drawn(found, 40, ui=ui).frame)
    assert "no worker" in lines
    assert "a-queue-with-a-long-name" in "".join(lines) and "5 jobs wait." in "\n".join(lines)


def test_details_of_a_job_are_those_that_were_looked_up() -> None:
    ui = Ui(opened=Open("active", "a1", "a1"))
    assert "It is being looked up." in text(drawn(busy(), ui=ui).frame)
    found = look(opened=Opened("a1", ["It is running.", "", "id a1", "a\n    b \x1b[2J"]))
    lines = text(drawn(found, ui=ui).frame)
    assert lines[3:8] == ["It is running.", "", "id a1", "a", "    b \\x1b[2J"]


def test_details_of_what_is_gone_say_so() -> None:
    for opened in (Open("queues", "x"), Open("workers", "x"), Open("alerts", "x")):
        assert "It is gone." in text(drawn(busy(), ui=Ui(opened=opened)).frame)


@given(line=st.text(), width=st.integers(20, 100))
def test_a_line_of_details_is_broken_where_the_screen_ends(line: str, width: int) -> None:
    for piece in wrap(line.replace("\n", " "), width):
        assert piece.isprintable() and cell_len(piece) <= width


def test_a_terminal_with_ascii_alone_gets_nothing_else() -> None:
    found = busy()
    made = Scene(Ui(), found, panes(found, ASCII.bars), WHERE, glyphs=ASCII)
    assert plain(draw(made, 40, 24).frame).isascii()
    assert not plain(draw(made._replace(glyphs=FANCY), 40, 24).frame).isascii()


def test_a_sheet_has_every_row_and_no_choice() -> None:
    found = look(*(queue(f"q{n:03}", pending=1) for n in range(300)), now=NOW)
    lines = text(sheet(scene(found), 1_000))
    assert sum(line.startswith("  q") for line in lines) == 300
    assert not [line for line in lines if line.startswith(("> ", "▸ "))]
    assert max(map(len, lines)) < 200
