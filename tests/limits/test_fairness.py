"""Where jobs of groups go in the line."""

from collections import Counter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from windlass.limits.fairness import BAND, SLOT, STEP, first_free, place_of


class Line:
    """A line of grouped jobs, as plainly as it can be written."""

    def __init__(self) -> None:
        self.places: dict[int, str] = {}
        self.clock = 0

    def add(self, group: str, weight: int = 1) -> int:
        mine = max((at for at, of in self.places.items() if of == group), default=0)
        place = place_of(self.clock, mine, weight, self._last_between)
        assert place not in self.places
        self.places[place] = group
        return place

    def take(self) -> str:
        self.clock = min(self.places)
        return self.places.pop(self.clock)

    def _last_between(self, start: int, end: int) -> int | None:
        return max((place for place in self.places if start <= place < end), default=None)


@given(st.lists(st.tuples(st.sampled_from("abcde"), st.integers(1, 1_000)), max_size=60))
def test_no_two_jobs_share_a_place_and_a_group_keeps_its_order(jobs: list[tuple[str, int]]) -> None:
    line = Line()
    last: dict[str, int] = {}
    for group, weight in jobs:
        place = line.add(group, weight)
        assert place > last.get(group, BAND)
        last[group] = place


@example([1, 6, 8, 8, 12])
@example([100, 90, 7])
@example([1_000, 900, 13, 13])
@given(st.lists(st.integers(1, 16), min_size=2, max_size=6))
def test_groups_that_always_have_jobs_are_served_by_their_weights(weights: list[int]) -> None:
    line = Line()
    groups = {str(n): weight for n, weight in enumerate(weights)}
    for group, weight in groups.items():
        for _ in range(3):
            line.add(group, weight)
    rounds = 30
    served: Counter[str] = Counter()
    for _ in range(rounds * sum(weights)):
        group = line.take()
        served[group] += 1
        line.add(group, groups[group])
    for group, weight in groups.items():
        assert abs(served[group] - rounds * weight) <= 0.15 * rounds * weight + 3


def test_more_groups_than_a_slot_has_places_spill_over_and_stay_within_a_step() -> None:
    line = Line()
    places = [line.add(f"g{n}") for n in range(SLOT + 100)]
    assert len(set(places)) == len(places)
    assert max(places) - min(places) < STEP


@pytest.mark.parametrize("groups", [100, 10_000, 100_000, 1_000_000])
def test_a_place_costs_the_same_however_many_groups_wait(groups: int) -> None:
    """The line is full from the first wanted place on, as many groups make it."""
    begin = BAND + STEP
    asked = 0

    def last_between(start: int, end: int) -> int | None:
        nonlocal asked
        asked += 1
        last = min(end, begin + groups) - 1
        return last if last >= start else None

    assert place_of(0, 0, 1, last_between) == begin + groups
    assert asked < 40


@given(st.sets(st.integers(0, 60)), st.integers(0, 60))
def test_a_slot_that_is_found_has_room_and_comes_right_behind_a_full_one(
    full: set[int], slot: int
) -> None:
    found = first_free(slot * SLOT, lambda start: start // SLOT in full)
    assert found % SLOT == 0 and found // SLOT >= slot
    assert found // SLOT not in full
    assert found // SLOT == slot or found // SLOT - 1 in full
