"""The page of the documentation has the rows that are tested, and no others."""

from tests.hostile.handlers.apps import TABLES
from tests.hostile.handlers.calling import ACTS, ARGUMENTS, OPTIONS, RECORDS
from tests.hostile.handlers.page import BEGIN, END, PAGE, written


def test_the_page_has_the_rows_of_the_table() -> None:
    """If not: python -m tests.hostile.handlers.page"""
    text = PAGE.read_text("utf-8")
    assert text.count(BEGIN) == text.count(END) == 1
    assert text == written(text)


def test_no_row_is_there_twice() -> None:
    for table in TABLES:
        rows = [(case.what, letter, case.stores) for case in table for letter in case.on]
        assert len(rows) == len(set(rows)), table.title
    for calls in (ARGUMENTS, OPTIONS, RECORDS, ACTS):
        assert len({call.what for call in calls}) == len(calls)


def test_there_are_as_many_ways_as_promised() -> None:
    assert sum(map(len, TABLES)) >= 60
