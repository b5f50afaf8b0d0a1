"""Cursors: what a listing goes on from, and what it refuses."""

import base64
from typing import Any

import msgspec
import pytest

from windlass.core.model import JobQuery
from windlass.core.states import State
from windlass.errors import InvalidOption
from windlass.stores.cursor import (
    KEY_TYPES,
    LISTING_ORDER,
    Cursor,
    Key,
    LaneCursor,
    decode_cursor,
    decode_lane_cursor,
    plan,
)

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


def test_a_cursor_of_lanes_comes_back_as_it_was() -> None:
    cursor = LaneCursor("büro", "l:1")
    assert decode_lane_cursor(cursor.encode()) == cursor
    assert decode_lane_cursor(None) == LaneCursor("", "")
    with pytest.raises(InvalidOption):
        decode_cursor(cursor.encode())


@pytest.mark.parametrize(
    "key",
    [
        [],
        ["q", 1],
        ["q", "l", "more"],
        ["", "l"],
        ["q\0", "l"],
        ["q", "\0"],
        ["active", [1, "x"]],
        "ql",
    ],
)
def test_a_cursor_of_lanes_of_another_shape_is_refused(key: object) -> None:
    text = base64.urlsafe_b64encode(msgspec.msgpack.encode(key)).decode().rstrip("=")
    with pytest.raises(InvalidOption, match="start without a cursor"):
        decode_lane_cursor(text)


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
