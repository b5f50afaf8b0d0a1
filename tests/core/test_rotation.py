"""Which queue gives how much: parsing, and the shares that come of it."""

from collections import Counter
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.core.rotation import Rotation, Served, parse_queues
from windlass.errors import ConfigError

FULL = 10**9
weights = st.lists(st.integers(1, 1000) | st.integers(1, 5), min_size=2, max_size=6)
rooms = st.lists(st.integers(1, 3) | st.integers(1, 1000), min_size=1, max_size=60)


def rotation(*queues: str, strict: bool = False) -> Rotation:
    return Rotation(parse_queues(queues, strict=strict), strict=strict)


def weighted(each: Sequence[int]) -> Rotation:
    return Rotation([Served(f"q{n}", weight) for n, weight in enumerate(each)])


def take(rotation: Rotation, backlog: Counter[str], room: int) -> Counter[str]:
    """One claim, as a store serves it: in order, each queue up to its cap."""
    caps = rotation.caps(room)
    taken: list[str] = []
    for queue, most in caps.items():
        number = min(most, room - len(taken), backlog[queue])
        taken += [queue] * number
        backlog[queue] -= number
    rotation.note(caps, room, taken)
    return Counter(taken)


def sequence(rotation: Rotation, backlog: Mapping[str, int], number: int) -> str:
    """The queues of so many jobs, claimed one at a time."""
    left = Counter(backlog)
    return "".join("".join(take(rotation, left, 1)) for _ in range(number))


class TestParsing:
    def test_a_name_a_weight_and_every_queue(self) -> None:
        assert parse_queues(("a", "b:3", "*")) == (Served("a"), Served("b", 3), Served("*"))
        assert parse_queues(("*:2", "x:1000")) == (Served("*", 2), Served("x", 1000))

    def test_what_follows_the_last_colon_is_the_weight(self) -> None:
        assert parse_queues(("tenant:acme:1",)) == (Served("tenant:acme"),)
        assert parse_queues(("tenant:42:7",)) == (Served("tenant:42", 7),)

    @pytest.mark.parametrize("text", ["a:0", "a:1001", "a:-1", "a:1.5", "a:x", "a:", "a:²", "a: 3"])
    def test_a_weight_is_a_whole_number_from_1_to_1000(self, text: str) -> None:
        with pytest.raises(ConfigError) as caught:
            parse_queues(("ok", text))
        assert f"queues has {text!r}" in str(caught.value)
        assert "a whole number from 1 to 1000" in str(caught.value)
        assert f"'{text}:1'" in str(caught.value)

    @pytest.mark.parametrize("text", ["", ":3", " a", "a :3", "a\n", "x" * 129])
    def test_a_name_that_no_queue_can_have_is_refused(self, text: str) -> None:
        with pytest.raises(ConfigError, match="name of a queue"):
            parse_queues((text,))

    @pytest.mark.parametrize("queues", [("a", "b", "a"), ("a:2", "a"), ("*", "*:2")])
    def test_the_same_queue_twice_is_refused(self, queues: tuple[str, ...]) -> None:
        with pytest.raises(ConfigError, match="twice; name it once"):
            parse_queues(queues)

    def test_weights_and_strict_order_exclude_each_other(self) -> None:
        with pytest.raises(ConfigError, match="weights together with strict"):
            parse_queues(("a:2", "b"), strict=True)
        assert parse_queues(("a:b:1", "*"), strict=True) == (Served("a:b"), Served("*"))

    @pytest.mark.parametrize("queues", [(), "mail"])
    def test_no_queue_at_all_is_refused(self, queues: tuple[str, ...]) -> None:
        with pytest.raises(ConfigError, match="at least one queue"):
            parse_queues(queues)


class TestTurns:
    def test_two_queues_alternate_even_one_job_at_a_time(self) -> None:
        assert sequence(rotation("a", "b"), {"a": FULL, "b": FULL}, 6) == "ababab"

    def test_a_heavier_queue_has_more_turns_and_the_lighter_need_not_wait_for_all(self) -> None:
        assert sequence(rotation("a:3", "b"), {"a": FULL, "b": FULL}, 8) == "abaaabaa"

    def test_one_claim_is_divided(self) -> None:
        turns = rotation("a:3", "b:1")
        full = Counter(a=FULL, b=FULL)
        assert take(turns, full, 100) == {"a": 75, "b": 25}

    def test_a_single_queue_gives_everything(self) -> None:
        assert rotation("a").caps(50) == {"a": 50}
        assert rotation("a:7").caps(50) == {"a": 50}

    @given(each=weights, claims=rooms)
    def test_full_queues_give_by_their_weights(
        self, each: Sequence[int], claims: Sequence[int]
    ) -> None:
        turns = weighted(each)
        backlog = Counter({f"q{n}": FULL for n in range(len(each))})
        given: Counter[str] = Counter()
        for room in claims:
            given += (taken := take(turns, backlog, room))
            assert taken.total() == room
            for n, weight in enumerate(each):
                # Less than one round off, and most often by one job.
                share = given.total() * weight / sum(each)
                assert share - len(each) <= given[f"q{n}"] <= share + 2

    @given(each=weights, room=st.integers(1, 50))
    def test_no_full_queue_goes_without_a_job_for_longer_than_a_round(
        self, each: Sequence[int], room: int
    ) -> None:
        turns = weighted(each)
        backlog = Counter({f"q{n}": FULL for n in range(len(each))})
        given: Counter[str] = Counter()
        while given.total() < sum(each) + len(each):
            given += take(turns, backlog, room)
        assert len(given) == len(each)

    @given(
        each=weights,
        steps=st.lists(
            st.tuples(st.integers(1, 30), st.lists(st.integers(0, 40), min_size=6, max_size=6)),
            max_size=30,
        ),
    )
    def test_nothing_is_idle_while_any_queue_has_jobs(
        self, each: Sequence[int], steps: Sequence[tuple[int, Sequence[int]]]
    ) -> None:
        turns = weighted(each)
        backlog: Counter[str] = Counter()
        for room, arriving in steps:
            backlog.update({f"q{n}": arriving[n] for n in range(len(each))})
            left = room
            for _ in each:
                left -= take(turns, backlog, left).total() if left else 0
            assert left == 0 or backlog.total() == 0

    @given(each=weights, busy=st.integers(0, 5), room=st.integers(1, 100))
    def test_once_the_others_are_known_to_be_empty_one_claim_fills_the_room(
        self, each: Sequence[int], busy: int, room: int
    ) -> None:
        name = f"q{busy % len(each)}"
        turns, backlog = weighted(each), Counter({name: FULL})
        for _ in each:
            take(turns, backlog, room)
        for _ in range(5):
            assert take(turns, backlog, room) == {name: room}


class TestComingAndGoing:
    def test_what_the_first_ones_turn_out_not_to_have_the_others_give_in_the_same_claim(
        self,
    ) -> None:
        assert take(rotation("a", "b"), Counter(b=FULL), 100) == {"b": 100}
        assert take(rotation("a", "b", "c", "d"), Counter(c=FULL), 2) == {"c": 2}

    def test_a_queue_is_not_ahead_of_its_turn_for_having_been_empty_a_moment_ago(self) -> None:
        turns, backlog = rotation("a:1000", "b", "c:1000"), Counter(a=FULL, b=1, c=1)
        assert take(turns, backlog, 3) == {"a": 1, "b": 1, "c": 1}
        assert take(turns, backlog, 10) == {"a": 5}  # c did not give its five, b had nothing
        backlog["b"] = 1
        assert sequence(turns, backlog, 10) == "a" * 10

    def test_the_first_job_of_an_empty_queue_is_in_the_next_claim(self) -> None:
        turns, backlog = rotation("a:1000", "b"), Counter(a=FULL)
        assert sequence(turns, backlog, 50) == "a" * 50
        backlog["b"] = 1
        assert take(turns, backlog, 1) == {"b": 1}

    def test_an_empty_queue_saves_no_turns_up(self) -> None:
        turns, backlog = rotation("a", "b"), Counter(a=FULL)
        assert sum(take(turns, backlog, 500)["a"] for _ in range(5)) > 2000
        backlog["b"] = FULL
        assert take(turns, backlog, 100)["b"] in range(49, 52)

    def test_a_queue_that_gets_one_job_at_a_time_has_no_more_than_its_share(self) -> None:
        turns, backlog = rotation("a:9", "b"), Counter(a=FULL)
        given: Counter[str] = Counter()
        for _ in range(1000):
            backlog["b"] = 1
            given += take(turns, backlog, 1)
        assert given["b"] in range(99, 103)

    def test_what_was_given_while_all_the_rest_was_empty_is_forgotten(self) -> None:
        turns, backlog = rotation("a", "b"), Counter(b=900)
        while backlog.total():
            take(turns, backlog, 1000)
        assert not take(turns, backlog, 1000)
        assert sequence(turns, {"a": FULL, "b": FULL}, 8).count("b") == 4

    def test_a_paused_queue_is_like_an_empty_one(self) -> None:
        assert sequence(rotation("paused", "b"), {"b": FULL}, 5) == "b" * 5


class TestStrictOrder:
    def test_a_queue_is_served_only_while_those_before_it_are_empty(self) -> None:
        turns = rotation("a", "b", "c", strict=True)
        assert list(turns.caps(5).items()) == [("a", 5), ("b", 5), ("c", 5)]
        backlog = Counter(a=7, b=1, c=FULL)
        assert take(turns, backlog, 5) == {"a": 5}
        assert take(turns, backlog, 5) == {"a": 2, "b": 1, "c": 2}
        backlog["b"] = FULL
        assert take(turns, backlog, 5) == {"b": 5}

    @given(
        backlog=st.lists(st.integers(0, 20), min_size=4, max_size=4),
        claims=st.lists(st.integers(1, 30), max_size=10),
    )
    def test_no_job_is_taken_while_one_before_it_waits(
        self, backlog: Sequence[int], claims: Sequence[int]
    ) -> None:
        turns = rotation("q0", "q1", "q2", "q3", strict=True)
        left = Counter({f"q{n}": number for n, number in enumerate(backlog)})
        for room in claims:
            taken = take(turns, left, room)
            for n in range(4):
                if left[f"q{n}"]:
                    assert not any(taken[f"q{later}"] for later in range(n + 1, 4))


class TestEveryQueue:
    def test_queues_are_served_once_they_are_met(self) -> None:
        turns = rotation("*")
        assert (turns.is_open, turns.names, turns.caps(10)) == (True, (), {})
        turns.meet(["a", "b"])
        assert take(turns, Counter(a=FULL, b=FULL), 10) == {"a": 5, "b": 5}
        turns.meet(["b", "c"])
        assert take(turns, Counter(a=FULL, b=FULL, c=FULL), 10).keys() == {"b", "c"}

    def test_each_unnamed_queue_has_the_weight_of_the_star(self) -> None:
        turns = rotation("urgent:6", "*:2")
        turns.meet(["a", "b", "urgent"])
        backlog = Counter(a=FULL, b=FULL, urgent=FULL)
        given = sum((take(turns, backlog, 10) for _ in range(10)), Counter[str]())
        assert {name: round(number, -1) for name, number in given.items()} == {
            "urgent": 60,
            "a": 20,
            "b": 20,
        }

    def test_a_named_queue_is_served_though_it_was_not_met(self) -> None:
        turns = rotation("urgent:5", "*")
        assert take(turns, Counter(urgent=3), 10) == {"urgent": 3}

    def test_meeting_the_same_queues_again_changes_no_turn(self) -> None:
        turns, left = rotation("*"), Counter(a=FULL, b=FULL, c=FULL)
        order = ""
        for _ in range(9):
            turns.meet(["a", "b", "c"])
            order += "".join(take(turns, left, 1))
        assert Counter(order) == {"a": 3, "b": 3, "c": 3}

    def test_a_queue_that_is_called_like_the_sign_is_one_of_them(self) -> None:
        turns = rotation("*")
        turns.meet(["*", "a"])
        assert turns.caps(10).keys() == {"*", "a"}

    def test_in_strict_order_the_others_share_fairly_at_the_place_of_the_star(self) -> None:
        turns = rotation("first", "*", "last", strict=True)
        turns.meet(["a", "b", "first", "last"])
        backlog = Counter(first=3, a=6, b=6, last=FULL)
        assert "".join("".join(take(turns, backlog, 1)) for _ in range(3)) == "first" * 3
        assert sorted("".join(take(turns, backlog, 1)) for _ in range(12)) == ["a"] * 6 + ["b"] * 6
        assert take(turns, backlog, 4) == {"last": 4}

    def test_without_a_star_only_the_named_queues_are_waited_for(self) -> None:
        turns = rotation("a:2", "b")
        assert (turns.is_open, turns.names) == (False, ("a", "b"))
