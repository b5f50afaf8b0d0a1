"""Columns on screens of any width."""

from windlass.cli.top.frame import Line, Style, cut, fit, plain
from windlass.cli.top.table import Cell, Column, Table

COLUMNS = (
    Column("name", least=6),
    Column("number", right=True),
    Column("text", least=5, rank=1),
    Column("extra", rank=2),
)
ROW = [Cell("a long name here"), Cell("17"), Cell("some more text"), Cell("rest", Style.BAD)]


def drawn(width: int) -> str:
    table = Table(COLUMNS, [ROW], width)
    return plain([table.line(ROW)])


def test_with_room_for_all_of_it_nothing_is_cut() -> None:
    assert drawn(80) == "a long name here      17  some more text  rest"


def test_with_less_room_the_gaps_go_first_and_then_the_widest_give_way() -> None:
    assert drawn(44) == "a long name here     17 some more text rest"
    assert drawn(38) == "a long name…     17 some more t… rest"


def test_where_that_is_not_enough_columns_go_by_their_rank() -> None:
    assert drawn(24) == "a long …     17 some mo…"
    assert drawn(15) == "a long …     17"


def test_what_does_not_fit_in_any_way_is_as_narrow_as_it_may_be() -> None:
    assert drawn(3) == "a lon…     17"


def test_a_style_for_the_line_wins_over_those_of_its_cells() -> None:
    table = Table(COLUMNS, [ROW], 80)
    assert table.line(ROW)[-1].style is Style.BAD
    assert {piece.style for piece in table.line(ROW, Style.CHOSEN)} == {Style.CHOSEN}


def test_letters_of_two_cells_are_counted_as_two() -> None:
    assert fit("漢字", 6) == "漢字  "
    assert [fit("漢字漢字", width) for width in (5, 6)] == ["漢字…", "漢字 …"]
    assert fit("abc", 1) == "…"


def test_a_line_is_cut_within_a_piece_and_never_longer_than_asked() -> None:
    line: Line = Table(COLUMNS, [ROW], 80).line(ROW)
    for width in range(60):
        assert sum(piece.width for piece in cut(line, width)) <= width
    assert plain([cut(line, 10)]) == "a long na…"
