"""Moments and durations in whole milliseconds."""

import time
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.core.clock import moment_ms, system_clock, to_datetime, to_ms
from windlass.errors import InvalidOption
from windlass.testing.clock import START, FakeClock


def test_the_system_clock_is_this_machines_in_milliseconds() -> None:
    before = time.time_ns() // 1_000_000
    assert before <= system_clock() <= time.time_ns() // 1_000_000


@pytest.mark.parametrize(
    ("seconds", "ms"), [(0, 0), (1, 1_000), (0.001, 1), (0.0001, 1), (0.0015, 2), (2.5, 2_500)]
)
def test_a_duration_is_rounded_up_so_that_nothing_runs_early(seconds: float, ms: int) -> None:
    assert to_ms(seconds) == ms


@given(seconds=st.floats(0, 1e9))
def test_a_rounded_duration_is_never_shorter_nor_longer_by_a_millisecond(seconds: float) -> None:
    assert seconds * 1000 <= to_ms(seconds) <= seconds * 1000 + 1


def test_the_same_moment_in_two_time_zones_is_the_same_number() -> None:
    noon = datetime(2030, 6, 1, 12, tzinfo=UTC)
    tokyo = noon.astimezone(timezone(timedelta(hours=9)))
    assert moment_ms(noon, "at") == moment_ms(tokyo, "at") == 1_906_545_600_000


def test_a_moment_without_a_time_zone_is_refused_by_the_name_it_was_given_under() -> None:
    with pytest.raises(InvalidOption, match=r"Snooze\(until=…\) needs a datetime with a time zone"):
        moment_ms(datetime(2030, 1, 1), "Snooze(until=…)")


@given(ms=st.integers(0, 250_000_000_000_000))
def test_a_moment_comes_back_from_a_datetime(ms: int) -> None:
    moment = to_datetime(ms)
    assert moment.tzinfo is UTC
    # As a float a far moment is not exact, and rounding up may add one.
    assert moment_ms(moment, "at") - ms in (0, 1)


def test_a_fake_clock_moves_only_when_it_is_told() -> None:
    clock = FakeClock()
    assert clock() == clock() == START
    clock.advance(1.5)
    assert clock() == START + 1_500
