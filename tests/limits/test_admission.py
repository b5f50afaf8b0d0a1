"""Who gets a slot: the one decision that every store makes after it has changed a lane."""

from hypothesis import given
from hypothesis import strategies as st

from windlass.core.lane import Lane
from windlass.limits.admission import (
    MOST_ADMITTED,
    LaneState,
    Standing,
    Verdict,
    after_starts,
    idle_from,
    noticed,
    settle,
)

NOW = 1_700_000_000_000
FRESH = LaneState()
numbers = st.integers(0, 300)


@given(numbers, numbers, st.integers(1, 300))
def test_slots_are_given_until_they_are_taken(holders: int, waiting: int, slots: int) -> None:
    verdict = settle(Lane("l", slots=slots), FRESH, Standing(holders, 0, waiting), NOW)
    assert verdict == Verdict(max(0, min(slots - holders, waiting, MOST_ADMITTED)))


def test_a_rate_lets_as_many_into_the_line_as_may_start() -> None:
    lane = Lane("r", starts=10, per=1_000, burst=5)
    assert settle(lane, FRESH, Standing(0, 0, 9), NOW) == Verdict(5)
    assert settle(lane, FRESH, Standing(3, 3, 9), NOW) == Verdict(2)
    assert settle(lane, FRESH, Standing(5, 5, 9), NOW) == Verdict(0)


def test_when_none_may_start_one_is_told_when() -> None:
    lane = Lane("r", starts=10, per=1_000, burst=5)
    used = after_starts(lane, FRESH, NOW, 5)
    assert settle(lane, used, Standing(5, 0, 9), NOW) == Verdict(0, NOW + 100)
    assert settle(lane, used, Standing(5, 0, 0), NOW) == Verdict(0)
    assert settle(lane, used, Standing(5, 0, 9), NOW + 250) == Verdict(2)


def test_no_ticket_while_all_slots_are_taken() -> None:
    lane = Lane("r", slots=5, starts=10, per=1_000, burst=5)
    used = after_starts(lane, FRESH, NOW, 5)
    assert settle(lane, used, Standing(5, 0, 9), NOW) == Verdict(0)


def test_a_batch_is_led_by_one_when_it_is_full_or_ripe() -> None:
    lane = Lane("b", size=3, grace=1_000, longest=5_000)
    begun = noticed(FRESH, Standing(0, 0, 1, entered=True), NOW)
    assert settle(lane, begun, Standing(0, 0, 1), NOW) == Verdict(0, NOW + 1_000)
    assert settle(lane, begun, Standing(0, 0, 3), NOW) == Verdict(1)
    assert settle(lane, begun, Standing(0, 0, 1), NOW + 1_000) == Verdict(1)
    assert settle(lane, begun, Standing(1, 1, 7), NOW) == Verdict(0)
    fed = noticed(begun, Standing(0, 0, 2, entered=True), NOW + 4_500)
    assert settle(lane, fed, Standing(0, 0, 2), NOW + 4_500) == Verdict(0, NOW + 5_000)


def test_a_batch_that_was_handed_out_lets_the_next_one_gather_from_then_on() -> None:
    lane = Lane("b", size=3, grace=1_000, longest=5_000)
    begun = noticed(FRESH, Standing(0, 0, 4, entered=True), NOW)
    handed_out = after_starts(lane, begun, NOW + 900, 3)
    left = noticed(handed_out, Standing(3, 0, 1), NOW + 900)
    assert (left.first, left.last) == (NOW + 900, NOW)


def test_a_lane_is_forgotten_when_its_rate_has_recovered() -> None:
    assert idle_from(Lane("l", slots=1), FRESH, NOW) == NOW
    lane = Lane("r", starts=10, per=1_000, burst=5)
    assert idle_from(lane, after_starts(lane, FRESH, NOW, 5), NOW) == NOW + 500
