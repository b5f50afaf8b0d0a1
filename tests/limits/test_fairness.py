"""Where jobs of groups go in the line."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from windlass.limits.fairness import BAND, SLOT, STEP, place_of


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
