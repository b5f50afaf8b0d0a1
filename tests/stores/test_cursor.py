"""Cursors: what a listing goes on from, and what it refuses."""

from typing import Any

import pytest

from windlass.core.model import JobQuery
from windlass.core.states import State
from windlass.errors import InvalidOption
from windlass.stores.cursor import KEY_TYPES, LISTING_ORDER, Cursor, Key, decode_cursor, plan

OWN = {**KEY_TYPES, State.DEAD: (int, str)}
EXAMPLES: dict[type, Any] = {int: 7, str: "x"}


@pytest.mark.parametrize("state", LISTING_ORDER)
def test_a_cursor_comes_back_as_it_was(state: State) -> None:
    cursor = Cursor(state, tuple(EXAMPLES[kind] for kind in KEY_TYPES[state]))
    assert decode_cursor(cursor.encode()) == cursor


@pytest.mark.parametrize("key", [("x",), (1,), (1, 2), ("x", 1), (1, "x", 1), ()])
def test_a_key_of_another_shape_is_refused(key: Key) -> None:
    with pytest.raises(InvalidOption, match="start without a cursor"):
        decode_cursor(Cursor(State.ACTIVE, key).encode())


def test_a_listing_goes_on_in_the_state_that_it_had_come_to() -> None:
    cursor = Cursor(State.ACTIVE, (3, "x")).encode()
    states = (State.DEAD, State.ACTIVE, State.PENDING)
    left = plan(JobQuery(states=states, cursor=cursor))
    assert left == [(State.ACTIVE, (3, "x")), (State.PENDING, None)]


def test_a_store_may_bring_keys_of_its_own() -> None:
    own, usual = (Cursor(State.DEAD, key).encode() for key in ((1, "x"), (1, 2)))
    assert plan(JobQuery(states=(State.DEAD,), cursor=own), OWN) == [(State.DEAD, (1, "x"))]
    assert plan(JobQuery(states=(State.DEAD,), cursor=usual)) == [(State.DEAD, (1, 2))]
    with pytest.raises(InvalidOption):
        plan(JobQuery(states=(State.DEAD,), cursor=usual), OWN)
    with pytest.raises(InvalidOption):
        plan(JobQuery(states=(State.DEAD,), cursor=own))
