"""Numbers as bars and as words."""

import pytest

from windlass.cli.top.sparkline import ASCII_BARS, rate, short, size, sparkline


def test_the_highest_bar_is_the_largest_number_and_nothing_is_a_blank() -> None:
    assert sparkline([0, 1, 4, 8]) == " ▂▅█"
    assert sparkline([0, 1, 4, 8], ASCII_BARS) == " .=#"
    assert sparkline([7]) == "█"


def test_without_numbers_there_are_no_bars() -> None:
    assert sparkline([]) == ""
    assert sparkline([0, 0, 0]) == "   "


@pytest.mark.parametrize(
    ("per_second", "text"),
    [
        (0, "0/s"),
        (0.001, "1/min"),
        (0.5, "30/min"),
        (1, "1.0/s"),
        (99.94, "99.9/s"),
        (1234, "1,234/s"),
        (123_456, "123k/s"),
    ],
)
def test_a_rate_has_the_unit_that_suits_it(per_second: float, text: str) -> None:
    assert rate(per_second) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0"), (9_999, "9,999"), (10_000, "10k"), (1_250_000, "1.2M"), (250_000_000, "250M")],
)
def test_a_count_is_short(number: int, text: str) -> None:
    assert short(number) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [(12, "12 B"), (1_500, "1.5 kB"), (123_456_789, "123 MB"), (2_000_000_000, "2.0 GB")],
)
def test_a_size_has_the_unit_that_suits_it(number: int, text: str) -> None:
    assert size(number) == text
