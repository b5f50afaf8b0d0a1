"""When schedules tick, and what becomes of ticks that were missed."""

from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise, takewhile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.core.clock import moment_ms, to_datetime
from windlass.core.cron import (
    ALIASES,
    GRACE_MS,
    MOST_MISSED,
    Missed,
    Timetable,
    checked_missed,
    timetable,
)
from windlass.errors import InvalidOption

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000


def at(text: str) -> int:
    return moment_ms(datetime.fromisoformat(text).replace(tzinfo=UTC), "the moment")


def ticks(table: Timetable, start: str, number: int) -> list[str]:
    """So many ticks after a moment, in UTC."""
    found, moment = [], at(start)
    for _ in range(number):
        moment = table.after(moment)
        found.append(f"{to_datetime(moment):%Y-%m-%d %H:%M:%S}")
    return found


def test_five_fields_go_by_minutes_in_the_zone_given() -> None:
    table = timetable("0 9 * * mon-fri", "Europe/Berlin")
    assert ticks(table, "2026-11-13 10:00", 2) == ["2026-11-16 08:00:00", "2026-11-17 08:00:00"]


def test_six_fields_begin_with_seconds() -> None:
    table = timetable("*/20 30 4 * * *")
    assert ticks(table, "2026-01-01", 4) == [
        "2026-01-01 04:30:00",
        "2026-01-01 04:30:20",
        "2026-01-01 04:30:40",
        "2026-01-02 04:30:00",
    ]


@pytest.mark.parametrize("alias", ALIASES)
def test_an_alias_is_the_expression_that_it_stands_for(alias: str) -> None:
    start = at("2026-05-05 05:05")
    assert timetable(alias).after(start) == timetable(ALIASES[alias]).after(start)


@pytest.mark.parametrize(
    ("text", "period"),
    [("@every 90s", 90_000), ("@every 1h30m", 90 * MINUTE), ("@every 2d", 2 * DAY)],
)
def test_every_ticks_at_multiples_whoever_computes_them(text: str, period: int) -> None:
    table = timetable(text)
    assert table.after(0) == period
    assert table.after(period - 1) == period
    assert table.after(period) == 2 * period


def test_a_time_that_the_clock_skips_comes_right_after_the_gap() -> None:
    table = timetable("30 2 * * *", "Europe/Berlin")
    assert ticks(table, "2026-03-28 12:00", 2) == ["2026-03-29 01:00:00", "2026-03-30 00:30:00"]


def test_a_time_that_comes_twice_counts_once() -> None:
    table = timetable("30 2 * * *", "Europe/Berlin")
    assert ticks(table, "2026-10-24 12:00", 2) == ["2026-10-25 00:30:00", "2026-10-26 01:30:00"]


@pytest.mark.parametrize("start", ["2026-03-29", "2026-10-25"])
def test_what_repeats_within_the_hour_goes_by_the_time_that_passes(start: str) -> None:
    table = timetable("*/30 * * * *", "Europe/Berlin")
    moments = [at(tick) for tick in ticks(table, start, 12)]
    assert {after - before for before, after in pairwise(moments)} == {30 * MINUTE}


@pytest.mark.parametrize(
    "text",
    ["", "* * * *", "* * * * * * *", "61 * * * *", "0 0 31 2 *", "x * * * *", "@fortnightly"],
)
def test_what_is_no_expression_is_refused(text: str) -> None:
    with pytest.raises(InvalidOption, match="is no"):
        timetable(text)


@pytest.mark.parametrize("text", ["@every", "@every 0s", "@every 90", "@every -1s", "@every 400d"])
def test_what_is_no_period_is_refused(text: str) -> None:
    with pytest.raises(InvalidOption, match="@every"):
        timetable(text)


@pytest.mark.parametrize("zone", ["Mars/Olympus", "", "../../etc/passwd", "\0"])
def test_an_unknown_time_zone_is_refused_by_name(zone: str) -> None:
    with pytest.raises(InvalidOption, match="There is no time zone"):
        timetable("* * * * *", zone)


def test_a_policy_for_missed_ticks_is_one_of_three() -> None:
    assert checked_missed("last") == "last"
    with pytest.raises(InvalidOption, match="skip, last or all; got 'none'"):
        checked_missed("none")


def test_missed_ticks_run_as_the_policy_says() -> None:
    table = timetable("@hourly")
    last, now = at("2026-01-01 00:00"), at("2026-01-01 05:30")
    assert table.due(last, now, "skip") == []
    assert table.due(last, now, "last") == [at("2026-01-01 05:00")]
    assert table.due(last, now, "all") == [last + n * HOUR for n in range(1, 6)]


@pytest.mark.parametrize("missed", ["skip", "last", "all"])
def test_a_tick_that_is_hardly_late_is_not_missed(missed: Missed) -> None:
    table = timetable("@hourly")
    tick = at("2026-01-01 05:00")
    assert table.due(tick - HOUR, tick + GRACE_MS, missed) == [tick]
    assert table.due(tick, tick + GRACE_MS, missed) == []


@pytest.mark.parametrize("missed", ["skip", "last", "all"])
def test_every_tick_of_the_grace_is_made_up_for(missed: Missed) -> None:
    """A leader that is killed leaves a gap of some seconds until another one leads."""
    table = timetable("* * * * * *")
    last = at("2026-01-01 05:00")
    assert table.due(last, last + 11_500, missed) == [last + n * 1000 for n in range(1, 12)]


def test_of_a_gap_beyond_the_grace_its_last_minute_is_made_up_for() -> None:
    table = timetable("*/20 * * * * *")
    last, now = at("2026-01-01 05:00"), at("2026-01-01 05:30:10")
    newest = [at("2026-01-01 05:29:20"), at("2026-01-01 05:29:40"), at("2026-01-01 05:30:00")]
    assert table.due(last, now, "skip") == newest
    assert table.due(last, now, "last") == newest


def test_catching_up_is_bounded_to_the_newest_ticks() -> None:
    table = timetable("* * * * * *")
    now = at("2026-01-01 00:00")
    found = table.due(0, now, "all")
    assert len(found) == MOST_MISSED
    assert found[-1] == now and found[0] == now - (MOST_MISSED - 1) * 1000


FOLDS = {
    "Europe/Berlin": "2026-10-25 01:00",
    "Europe/London": "2026-10-25 01:00",
    "America/New_York": "2026-11-01 06:00",
    "Australia/Lord_Howe": "2026-04-04 15:00",
}
"""the moment, in UTC, at which the second pass of the repeated hour begins"""


@pytest.mark.parametrize(("zone", "begins"), FOLDS.items())
@given(
    st.integers(0, 59),
    st.one_of(st.integers(0, 3).map(str), st.just("*"), st.just("0-3")),
    st.integers(-90, 90),
)
def test_in_the_repeated_hour_the_next_tick_is_ahead_and_the_last_one_behind(
    zone: str, begins: str, minute: int, hour: str, offset: int
) -> None:
    table = timetable(f"{minute} {hour} * * *", zone)
    moment = at(begins) + offset * MINUTE + 5_000
    first, last = table.after(moment), next(iter(table.before(moment)))
    assert last <= moment < first
    assert table.after(last) == first
    back = takewhile(lambda tick: tick > moment - DAY, table.before(moment + DAY))
    whole = list(back)[::-1]
    assert list(table.coming(moment - DAY, len(whole))) == whole


EXPRESSIONS = st.sampled_from(
    ["* * * * *", "*/7 3-5 * * *", "30 2 * * *", "0 0 29 2 *", "15 10 * * 1#2", "@every 1h7m"]
)
ZONES = st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"])
MOMENTS = st.datetimes(datetime(1990, 1, 1), datetime(2060, 1, 1), timezones=st.just(UTC)).map(
    lambda moment: moment_ms(moment, "the moment")
)


def test_no_tick_is_passed_over_where_clocks_change_by_half_an_hour() -> None:
    table = timetable("*/7 3-5 * * *", "Australia/Lord_Howe")
    night = at("2012-10-06 15:00")
    ticks = table.coming(night, 4)
    assert [(tick - night) / 60_000 for tick in ticks] == [
        (tick - night) / 60_000 for tick in reversed(list(islice(table.before(ticks[-1]), 4)))
    ]
    assert next(iter(table.before(ticks[0] - 1))) <= night


@given(EXPRESSIONS, ZONES, MOMENTS)
def test_forwards_and_backwards_are_the_same_ticks(text: str, zone: str, moment: int) -> None:
    table = timetable(text, zone)
    first = table.after(moment)
    second = table.after(first)
    assert moment < first < second
    assert list(islice(table.before(second), 2)) == [second, first]
    assert next(iter(table.before(first - 1))) <= moment


@given(EXPRESSIONS, ZONES, MOMENTS, st.timedeltas(timedelta(0), timedelta(days=3)))
def test_each_tick_is_due_exactly_once(
    text: str, zone: str, moment: int, between: timedelta
) -> None:
    """Whenever a scheduler looks, and however often."""
    table = timetable(text, zone)
    middle = moment + int(between.total_seconds() * 1000)
    end = middle + DAY
    early = table.due(moment, middle, "all")
    late = table.due(middle, end, "all")
    whole = [*early, *late]
    assert whole == sorted(set(whole))
    assert whole[-MOST_MISSED:] == list(table.due(moment, end, "all"))[-len(whole) :]
