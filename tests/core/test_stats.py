"""Counts by name: which a duration counts for, what percentiles follow, what is added to what."""

from bisect import bisect_left
from statistics import quantiles

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.core.stats import (
    BOUNDS,
    COARSE,
    FINE,
    KEPT,
    WHOLE,
    StatPoint,
    Tally,
    bucket,
    by_queue,
    first_bucket,
    percentile,
    summed,
    timed,
    together,
)
from windlass.errors import InvalidOption

seconds = st.floats(0, 10_000, allow_nan=False)
counts = st.dictionaries(st.sampled_from(["completed", "failed", "run:1"]), st.integers(0, 1_000))
tallies = st.lists(st.builds(Tally, st.sampled_from(["mail", "ops", WHOLE]), counts), max_size=5)


def counted(durations: list[float]) -> dict[str, int]:
    found: dict[str, int] = {}
    for each in durations:
        found[timed("run", each)] = found.get(timed("run", each), 0) + 1
    return found


def test_a_duration_counts_for_the_first_bound_that_it_does_not_pass() -> None:
    assert timed("run", 0.0) == "run:0"
    assert timed("run", 0.005) == "run:0"
    assert timed("wait", 0.0051) == "wait:1"
    assert timed("wait", 1800) == f"wait:{len(BOUNDS) - 1}"
    assert timed("wait", 1801) == f"wait:{len(BOUNDS)}"


def test_bounds_grow() -> None:
    assert list(BOUNDS) == sorted(set(BOUNDS))


def test_without_durations_there_is_no_percentile() -> None:
    assert percentile({}, "run", 0.5) is None
    assert percentile({"wait:3": 5, "run:2": 0}, "run", 0.5) is None


def test_durations_are_taken_to_be_spread_evenly_between_their_bounds() -> None:
    assert percentile({"run:7": 10}, "run", 0.5) == pytest.approx(0.75)
    assert percentile({"run:7": 10}, "run", 1.0) == 1
    assert percentile({"run:0": 90, "run:9": 10}, "run", 0.95) == pytest.approx(3.75)


def test_what_passes_all_bounds_is_as_long_as_the_last() -> None:
    assert percentile({f"run:{len(BOUNDS)}": 3}, "run", 0.5) == BOUNDS[-1]


@given(st.lists(seconds, min_size=1), st.floats(0, 1))
def test_a_percentile_lies_between_the_bounds_of_the_duration_that_it_is(
    durations: list[float], share: float
) -> None:
    found = percentile(counted(durations), "run", share)
    assert found is not None
    ordered = sorted(durations)
    place = share * len(ordered)
    # One that falls between two durations may be counted for either.
    near = {min(max(n, 0), len(ordered) - 1) for n in (int(place) - 1, int(place))}
    spans = [bisect_left(BOUNDS, ordered[n]) for n in near]
    lows = [(0.0, *BOUNDS)[n] for n in spans]
    highs = [(*BOUNDS, BOUNDS[-1])[n] for n in spans]
    assert min(lows) <= found <= max(highs)


@given(st.lists(seconds, min_size=1), st.floats(0, 1), st.floats(0, 1))
def test_a_greater_share_is_never_a_shorter_time(
    durations: list[float], one: float, other: float
) -> None:
    some = counted(durations)
    least, most = (percentile(some, "run", share) for share in sorted((one, other)))
    assert least is not None
    assert most is not None
    assert least <= most


def test_many_durations_give_nearly_the_percentile_that_they_have() -> None:
    durations = [n / 1_000 for n in range(1, 1_001)]
    found = percentile(counted(durations), "run", 0.95)
    assert found == pytest.approx(quantiles(durations, n=20)[-1], abs=0.01)


@given(tallies)
def test_the_whole_is_the_sum_of_all(given: list[Tally]) -> None:
    added = by_queue(given)
    for name in ("completed", "failed", "run:1"):
        whole = sum(each.counts.get(name, 0) for each in given)
        assert added.get(WHOLE, {}).get(name, 0) == whole
        for queue in ("mail", "ops"):
            own = sum(each.counts.get(name, 0) for each in given if each.queue == queue)
            assert added.get(queue, {}).get(name, 0) == own
    assert all(number for counts in added.values() for number in counts.values())
    assert all(added.values())


def test_buckets_begin_at_whole_steps() -> None:
    assert bucket(FINE, 123_456) == 120_000
    assert bucket(COARSE, 599_999) == 0


def test_only_kept_buckets_are_told() -> None:
    now = 10**12
    assert first_bucket(FINE, 0, now) == now - KEPT[FINE]
    assert first_bucket(COARSE, now - 5, now) == now - 5
    with pytest.raises(InvalidOption, match=r"in steps of 10,000 or 600,000 ms; got 7\."):
        first_bucket(7, 0, now)


def test_buckets_add_up() -> None:
    points = [
        StatPoint(20, "b", {"completed": 1}),
        StatPoint(10, "a", {"completed": 2, "dead": 1}),
        StatPoint(10, "b", {"completed": 3}),
    ]
    assert summed(points) == {"completed": 6, "dead": 1}
    assert together(points) == [
        StatPoint(10, WHOLE, {"completed": 5, "dead": 1}),
        StatPoint(20, WHOLE, {"completed": 1}),
    ]
