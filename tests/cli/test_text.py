"""What is shown: no control codes, no markup, no passwords, and times as people say them."""

import click
import pytest
from click.testing import CliRunner

from windlass.admin.moment import iso, relative
from windlass.cli.output import Column, print_table
from windlass.cli.text import masked, one_line, shown

NOW = 1_750_000_000


def test_control_codes_are_spelled_out() -> None:
    assert shown("a\x1b[31mb\x00\u202e\tc\nd") == "a\\x1b[31mb\\x00\\u202e\tc\nd"


def test_a_sentence_is_one_line() -> None:
    assert one_line(" two\n  lines\tand \x07") == "two lines and \\x07"


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("sqlite:///jobs.db", "sqlite:///jobs.db"),
        ("redis://:secret@host/1", "redis://:***@host/1"),
        ("postgres://ada:p@ss:w@rd@host/db", "postgres://ada:***@host/db"),
        ("redis://host?password=secret&db=1", "redis://host?password=***&db=1"),
        ("redis://host?ssl_PASSWORD=secret", "redis://host?ssl_PASSWORD=***"),
    ],
)
def test_a_password_is_hidden(url: str, text: str) -> None:
    assert masked(url) == text


@pytest.mark.parametrize(
    ("ago", "text"),
    [
        (0, "now"),
        (0.9, "now"),
        (59.9, "59 s ago"),
        (60, "1 min ago"),
        (7_199, "1 h ago"),
        (3 * 86_400, "3 d ago"),
        (-5, "in 5 s"),
        (-90, "in 1 min"),
    ],
)
def test_a_moment_is_said_as_people_do(ago: float, text: str) -> None:
    assert relative(round((NOW - ago) * 1000), NOW) == text


def test_no_moment_is_no_text() -> None:
    assert (relative(None), iso(None)) == ("", None)


def test_a_moment_for_programs_is_in_utc() -> None:
    assert iso(NOW * 1000 + 7) == "2025-06-15T15:06:40.007Z"


def test_a_moment_that_no_date_can_be_written_for_is_the_nearest_one() -> None:
    assert iso(10**18) == "9999-12-31T23:59:59.000Z"
    assert iso(-(10**18)) == "0001-01-01T00:00:00.000Z"


def test_a_table_is_not_cut_without_a_terminal_and_takes_no_markup() -> None:
    wide = "x" * 300

    @click.command()
    def show() -> None:
        print_table([Column("name"), Column("n", number=True)], [("[bold]a[/]", "1"), (wide, "2")])

    lines = CliRunner().invoke(show, catch_exceptions=False).stdout.splitlines()
    assert [line.split() for line in lines] == [["name", "n"], ["[bold]a[/]", "1"], [wide, "2"]]
