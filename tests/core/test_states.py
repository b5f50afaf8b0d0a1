"""The table of states: which moves there are, and what follows from them."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.core.states import (
    AFTER_ACTIVE,
    FINISHED,
    FIRST,
    LIVE,
    REPLAYABLE,
    TRANSITIONS,
    WAITING,
    Move,
    State,
    is_legal,
)

WAYS = {
    "blocked": {"pending": "unblock", "scheduled": "unblock", "cancelled": "cancel"},
    "scheduled": {"pending": "promote", "cancelled": "cancel", "blocked": "hold"},
    "pending": {
        "active": "claim",
        "scheduled": "reschedule",
        "cancelled": "cancel",
        "blocked": "hold",
    },
    "active": {
        "completed": "complete",
        "retry": "fail",
        "dead": "exhaust",
        "scheduled": "snooze",
        "pending": "release",
        "cancelled": "cancel",
        "blocked": "hold",
    },
    "retry": {
        "pending": "promote",
        "scheduled": "replace",
        "cancelled": "cancel",
        "blocked": "hold",
    },
    "completed": {},
    "dead": {"pending": "replay", "blocked": "replay"},
    "cancelled": {"pending": "replay", "blocked": "replay"},
}
"""Written out a second time, in the words that stores keep: a change of either is a decision."""

PAIRS = [(before, after) for before in State for after in State]


@pytest.mark.parametrize(("before", "after"), PAIRS)
def test_a_move_exists_only_where_the_diagram_has_an_edge(before: State, after: State) -> None:
    expected = WAYS[before.value].get(after.value)
    assert is_legal(before, after) is (expected is not None)
    assert TRANSITIONS.get((before, after)) == expected


def test_the_values_are_the_words_that_stores_keep() -> None:
    assert {state.value for state in State} == WAYS.keys()
    assert all(state.value == state.name.lower() == str(state) for state in State)


def test_every_verb_is_on_some_edge() -> None:
    assert set(TRANSITIONS.values()) == set(Move)


def test_the_table_cannot_be_changed_by_accident() -> None:
    with pytest.raises(TypeError):
        TRANSITIONS[State.COMPLETED, State.PENDING] = Move.REPLAY  # type: ignore[index]


def test_a_job_is_either_waiting_or_active_or_finished() -> None:
    assert set(State) == WAITING | {State.ACTIVE} | FINISHED
    assert not WAITING & FINISHED
    assert State.ACTIVE not in WAITING | FINISHED
    assert set(State) - FINISHED == LIVE


def test_only_a_worker_turns_a_job_active_and_only_from_pending() -> None:
    assert [pair for pair in TRANSITIONS if pair[1] is State.ACTIVE] == [
        (State.PENDING, State.ACTIVE)
    ]
    assert TRANSITIONS[State.PENDING, State.ACTIVE] is Move.CLAIM


def test_a_finished_job_moves_only_by_replay_and_a_completed_one_never() -> None:
    out = {pair: move for pair, move in TRANSITIONS.items() if pair[0] in FINISHED}
    assert set(out.values()) == {Move.REPLAY}
    assert {before for before, _ in out} == REPLAYABLE == FINISHED - {State.COMPLETED}


def test_every_live_job_can_be_cancelled() -> None:
    assert {before for before, after in TRANSITIONS if after is State.CANCELLED} == LIVE


def test_finish_can_lead_wherever_an_active_job_may_go() -> None:
    """But for the lane: a worker cannot ask for that."""
    ways = {after for after, move in WAYS["active"].items() if move != "hold"}
    assert {state.value for state in AFTER_ACTIVE} == ways


def test_a_job_is_inserted_in_a_state_that_waits_and_never_in_retry() -> None:
    assert WAITING - {State.RETRY} | {State.CANCELLED} == FIRST


def test_every_state_can_be_reached_from_where_a_job_is_inserted() -> None:
    reached = set(FIRST)
    while more := {after for before, after in TRANSITIONS if before in reached} - reached:
        reached |= more
    assert reached == set(State)


def test_from_every_live_state_a_job_can_still_be_completed() -> None:
    """No live state is a trap: some way leads on to the end that the job was made for."""
    ends = {State.COMPLETED}
    while more := {before for before, after in TRANSITIONS if after in ends} - ends:
        ends |= more
    assert ends >= LIVE


@given(first=st.sampled_from(sorted(FIRST)), picks=st.lists(st.integers(0, 5), max_size=30))
def test_no_path_leaves_a_finished_state_but_by_replay(first: State, picks: list[int]) -> None:
    path = [first]
    for pick in picks:
        ways = [after for before, after in TRANSITIONS if before is path[-1]]
        if not ways:
            assert path[-1] is State.COMPLETED
            break
        path.append(ways[pick % len(ways)])
    for before, after in pairwise(path):
        if before in FINISHED:
            assert TRANSITIONS[before, after] is Move.REPLAY
            assert after in (State.PENDING, State.BLOCKED)
    assert State.COMPLETED not in path[:-1]
