"""Backoff: how long to wait before which retry."""

import math
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.core.retry import (
    DEFAULT_RETRY,
    Backoff,
    Computed,
    Delays,
    Exponential,
    Fixed,
    RetryPolicy,
    as_backoff,
)
from windlass.errors import InvalidOption

durations = st.floats(0, 1e6)
retries = st.integers(1, 100_000)
fractions = st.floats(0, 1, exclude_max=True)

DOCUMENTED = [
    pytest.param(Exponential(0.2, 2), [0.2, 0.4, 0.8], id="2^n x 100 ms"),
    pytest.param(Delays([2, 4, 8, 16, 60]), [2, 4, 8, 16, 60, 60, 60], id="2^n s, then 60 s"),
    pytest.param(Exponential(10), [10, 20, 40], id="10 s x 2^n"),
    pytest.param(
        Exponential(1, 2, 600),
        [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600],
        id="base 1 s, cap 10 min",
    ),
    pytest.param(
        DEFAULT_RETRY.backoff,
        [2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600],
        id="the default: 2 s x 2^n, cap 10 min",
    ),
]


@pytest.mark.parametrize(("backoff", "table"), DOCUMENTED)
def test_a_documented_table_can_be_expressed(backoff: Backoff, table: list[float]) -> None:
    assert [backoff.delay(n) for n in range(1, len(table) + 1)] == pytest.approx(table)
    exact = RetryPolicy(backoff, jitter=0)
    assert [exact.wait(n) for n in range(1, len(table) + 1)] == pytest.approx(table)


def test_the_table_of_2_to_the_n_with_a_cap_differs_from_the_formula_in_its_fifth_row() -> None:
    """2^5 is 32, and the documented row says 60: only a list of delays gives that table."""
    assert Exponential(2, 2, 60).delay(5) == 32
    assert Exponential(2, 2, 60).delay(6) == 60


@given(base=durations, factor=st.floats(1, 10), cap=durations, n=retries)
def test_an_exponential_wait_is_the_formula_up_to_its_cap(
    base: float, factor: float, cap: float, n: int
) -> None:
    # In logarithms, where nothing overflows.
    log = math.log(base) + (n - 1) * math.log(factor) if base else -math.inf
    wait = Exponential(base, factor, cap).delay(n)
    if not cap or log > math.log(cap) + 1e-6:
        assert wait == cap
    elif log < math.log(cap) - 1e-6:
        assert wait == pytest.approx(math.exp(log), rel=1e-6, abs=1e-300)
    assert wait <= cap


@given(base=durations, factor=st.floats(1, 10), cap=durations, n=st.integers(1, 2_000))
def test_an_exponential_wait_never_gets_shorter(
    base: float, factor: float, cap: float, n: int
) -> None:
    backoff = Exponential(base, factor, cap)
    assert backoff.delay(n) <= backoff.delay(n + 1)


@pytest.mark.parametrize("n", [1_025, 100_000, 2**31])
def test_a_huge_attempt_waits_for_the_cap(n: int) -> None:
    assert Exponential(2.0, 2.0, 600.0).delay(n) == 600


@pytest.mark.parametrize("n", [1, 1_024, 1_025, 100_000])
def test_a_base_of_nothing_never_waits(n: int) -> None:
    assert Exponential(0, 2.0).delay(n) == 0


def test_whole_numbers_do_as_well_as_floats() -> None:
    assert Exponential(1, 2, 10).delay(50_000) == 10
    assert Exponential(0.5, 3, 10).delay(50_000) == 10


@given(wait=durations, n=retries)
def test_a_fixed_wait_is_the_same_before_each_retry(wait: float, n: int) -> None:
    assert Fixed(wait).delay(n) == wait


@given(waits=st.lists(durations, min_size=1), n=retries)
def test_the_last_of_a_list_repeats(waits: list[float], n: int) -> None:
    expected = waits[n - 1] if n <= len(waits) else waits[-1]
    assert Delays(waits).delay(n) == expected


def test_a_function_is_given_the_retry_number_and_the_error() -> None:
    seen: list[tuple[int, BaseException | None]] = []

    def wait(n: int, error: BaseException | None) -> float:
        seen.append((n, error))
        return 3.0 * n

    error = ValueError("x")
    assert Computed(wait).delay(2, error) == 6.0
    assert Computed(wait).delay(3) == 9.0
    assert seen == [(2, error), (3, None)]


@pytest.mark.parametrize("wrong", [-1, math.inf, math.nan])
def test_a_function_that_gives_no_possible_wait_is_refused(wrong: float) -> None:
    with pytest.raises(InvalidOption, match="The delay from a backoff function must be a finite"):
        Computed(lambda n, error: wrong).delay(1)


def test_a_function_may_give_a_timedelta() -> None:
    give: Any = lambda n, error: timedelta(minutes=n)  # noqa: E731
    assert Computed(give).delay(2) == 120


@given(jitter=st.floats(0, 1), uniform=fractions, n=retries, wait=durations)
def test_jitter_only_shortens_a_wait_and_never_by_more_than_its_share(
    jitter: float, uniform: float, n: int, wait: float
) -> None:
    jittered = RetryPolicy(Fixed(wait), jitter).wait(n, None, lambda: uniform)
    assert wait * (1 - jitter) - 1e-9 <= jittered <= wait


def test_by_default_a_wait_is_between_half_and_whole() -> None:
    waits = [DEFAULT_RETRY.wait(3) for _ in range(500)]
    assert all(4 < wait <= 8 for wait in waits)
    assert max(waits) - min(waits) > 1


def test_without_jitter_no_random_number_is_needed() -> None:
    assert RetryPolicy(Fixed(5), jitter=0).wait(1, uniform=lambda: 0.999) == 5


@pytest.mark.parametrize("jitter", [-0.1, 1.1, math.nan])
def test_jitter_outside_0_to_1_is_refused(jitter: float) -> None:
    with pytest.raises(InvalidOption, match="jitter must be between 0"):
        RetryPolicy(jitter=jitter)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (5, Fixed(5.0)),
        (0.5, Fixed(0.5)),
        ([1, 2.5], Delays((1.0, 2.5))),
        ((3,), Delays((3.0,))),
        (Exponential(3), Exponential(3)),
    ],
)
def test_a_shorthand_stands_for_its_policy(given: Any, expected: Backoff) -> None:
    assert as_backoff(given) == expected


def test_any_function_and_any_object_with_a_delay_will_do() -> None:
    class Odd:
        def delay(self, n: int, error: BaseException | None = None) -> float:
            return n % 2

    assert [as_backoff(Odd()).delay(n) for n in (1, 2)] == [1, 0]
    assert as_backoff(lambda n, error: n + 1.0).delay(1) == 2


@pytest.mark.parametrize("wrong", ["soon", None, {1: 2}, b"5"])
def test_a_backoff_that_is_none_is_refused_by_its_type(wrong: Any) -> None:
    with pytest.raises(InvalidOption, match=f"got {type(wrong).__name__}"):
        as_backoff(wrong)


@pytest.mark.parametrize("wrong", [["soon"], [None], [1, "x"]])
def test_a_list_of_things_that_are_no_numbers_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidOption):
        as_backoff(wrong)


def test_a_policy_class_where_a_policy_belongs_is_refused() -> None:
    """`backoff=Exponential`, without its parentheses, must not wait until the first failure."""
    with pytest.raises(InvalidOption):
        as_backoff(Exponential)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "make",
    [
        lambda: Exponential(-1),
        lambda: Exponential(math.nan),
        lambda: Exponential(cap=-1),
        lambda: Exponential(cap=math.inf),
        lambda: Exponential(factor=0.5),
        lambda: Exponential(factor=math.nan),
        lambda: Exponential(factor=math.inf),
        lambda: Fixed(-1),
        lambda: Fixed(math.inf),
        lambda: Delays([]),
        lambda: Delays([1, -1]),
        lambda: Delays([1, math.nan]),
    ],
)
def test_a_policy_that_cannot_be_is_refused_when_it_is_made(make: Callable[[], Backoff]) -> None:
    with pytest.raises(InvalidOption):
        make()
