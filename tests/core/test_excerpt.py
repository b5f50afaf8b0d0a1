"""What is left of a text that is too long."""

from hypothesis import given
from hypothesis import strategies as st

from windlass.core.excerpt import excerpt


def test_a_text_that_fits_stays_as_it_is() -> None:
    assert excerpt("short", 5) == "short"


def test_of_a_longer_one_both_ends_stay_and_it_is_told_how_much_is_missing() -> None:
    text = "begin " + "x" * 1_000 + " end"
    short = excerpt(text, 100)
    head, told, tail = short.partition("[… ")
    number, _, tail = tail.partition(" characters left out …]")
    assert head.startswith("begin ") and told and tail.endswith(" end")
    assert int(number) == len(text) - len(head) - len(tail)


def test_it_is_cut_between_lines_where_there_are_some() -> None:
    text = "".join(f"line {number}\n" for number in range(1_000))
    lines = excerpt(text, 500).splitlines()
    assert lines[0] == "line 0" and lines[-1] == "line 999"
    assert all(line in text or line.startswith("[…") for line in lines)


@given(text=st.text(max_size=300), most=st.integers(0, 300))
def test_it_is_never_longer_than_asked_for(text: str, most: int) -> None:
    assert len(excerpt(text, most)) <= most or excerpt(text, most) == text
