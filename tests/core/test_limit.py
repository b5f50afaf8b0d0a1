"""Limits as users write them."""

from datetime import timedelta
from typing import Any

import pytest

from windlass import Limit
from windlass.core.lane import Lane
from windlass.errors import InvalidOption


@pytest.mark.parametrize(
    ("rate", "starts", "per", "burst"),
    [
        ("10/s", 10, 1_000, 1),
        ("100/s", 100, 1_000, 10),
        ("5000 / s", 5_000, 1_000, 500),
        ("100/min", 100, 60_000, 1),
        ("1000/h", 1_000, 3_600_000, 1),
        ("5/d", 5, 86_400_000, 1),
        ("5/30s", 5, 30_000, 1),
        ("1/0.5min", 1, 30_000, 1),
        ((10, 1.0), 10, 1_000, 1),
        ((10, timedelta(minutes=2)), 10, 120_000, 1),
    ],
)
def test_a_rate_is_so_many_in_so_long(rate: Any, starts: int, per: int, burst: int) -> None:
    assert Limit(rate=rate).lane("x") == Lane("x", starts=starts, per=per, burst=burst)


def test_a_burst_can_be_saved_up_and_a_window_has_none() -> None:
    assert Limit(rate="10/s", burst=30).lane("x").burst == 30
    assert Limit(rate="10/s", window=True).lane("x").burst == 0


def test_a_limit_may_have_both() -> None:
    lane = Limit(rate="10/s", concurrency=3).lane("x")
    assert (lane.slots, lane.starts, lane.strict, lane.size) == (3, 10, False, 0)
    assert Limit(concurrency=3).lane("x") == Lane("x", slots=3)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({}, "A Limit has a rate, a concurrency, or both."),
        ({"burst": 3}, "A Limit has a rate, a concurrency, or both."),
        ({"concurrency": 1, "burst": 3}, "burst and window say something about rate"),
        ({"concurrency": 1, "window": True}, "burst and window say something about rate"),
        ({"rate": "10/s", "burst": 3, "window": True}, "Give burst or window, not both"),
        ({"rate": "10"}, "rate is a text as 10/s, 100/min, 5/30s or 1000/h are; got '10'."),
        ({"rate": "ten/s"}, "rate is a text as 10/s"),
        ({"rate": "-1/s"}, "rate is a text as 10/s"),
        ({"rate": "10/fortnight"}, "rate is a text as 10/s"),
        ({"rate": "0/s"}, "rate is a whole number from 1 to 1,000,000; got 0."),
        ({"rate": "5/0s"}, "rate must be above 0."),
        ({"rate": 10}, "rate is a text as 10/s, or a number and a time; got 10."),
        ({"rate": (0, 1)}, "rate is a whole number from 1 to 1,000,000; got 0."),
        ({"rate": (1.5, 1)}, "rate is a whole number"),
        ({"rate": (1, 0)}, "The time of a rate must be above 0."),
        ({"rate": (1, -1)}, "The time of a rate must be a finite number of seconds, 0 or more"),
        ({"rate": "1/s", "burst": 0}, "burst is a whole number from 1 to 1,000,000; got 0."),
        ({"concurrency": 0}, "concurrency is a whole number from 1 to 1,000,000; got 0."),
        ({"concurrency": -1}, "concurrency is a whole number from 1"),
        ({"concurrency": True}, "concurrency is a whole number from 1"),
        ({"concurrency": 1, "name": ""}, "The name of a limit is a text of 1 to 128 characters."),
        ({"concurrency": 1, "key": ""}, "key is a text of 1 to 100 characters; got ''."),
        ({"concurrency": 1, "key": 7}, "key is a text of 1 to 100 characters; got 7."),
    ],
)
def test_a_limit_that_cannot_be_is_refused_where_it_is_written(
    given: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(InvalidOption) as caught:
        Limit(**given)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)
