"""What few jobs have more than others, as `lua/shared/traits.lua` keeps it beside their records."""

from __future__ import annotations

from struct import Struct
from typing import Final

from ...core.lane import Lane
from ...core.model import Spec
from ...core.unique import UNTIL_STARTED

STARTS_FREE, WINDOW, LANE, GROUP = 1, 2, 4, 6

_TRAIT: Final = Struct(">BH")
_LENGTH: Final = Struct(">H")
_WINDOW: Final = Struct(">Q")
_LIMITS: Final = Struct(">IBIQIIQQ")
_WEIGHT: Final = Struct(">I")


def has_turns(spec: Spec) -> bool:
    """Whether a job waits in a lane, or takes turns for a group."""
    return spec.lane is not None or bool(spec.group)


def pack_traits(spec: Spec, unique: str | None) -> bytes:
    """The traits of a job that is to have this unique key; of most it is nothing."""
    traits = b""
    if unique is not None and spec.unique_for == UNTIL_STARTED:
        traits += _trait(STARTS_FREE, b"")
    elif unique is not None and spec.unique_for:
        traits += _trait(WINDOW, _WINDOW.pack(spec.unique_for) + unique.encode())
    if spec.lane is not None:
        traits += _trait(LANE, _limits(spec.lane) + spec.lane.name.encode())
    if spec.group:
        traits += _trait(GROUP, _WEIGHT.pack(spec.weight) + spec.group.encode())
    return traits


def _limits(lane: Lane) -> bytes:
    """As `lua/shared/lanes.lua` has them."""
    rate = (lane.starts, lane.per, lane.burst)
    return _LIMITS.pack(lane.slots, lane.strict, *rate, lane.size, lane.grace, lane.longest)


def read_limits(name: str, raw: bytes) -> Lane:
    """The lane of this name, with the limits that `_limits` made."""
    slots, strict, *others = _LIMITS.unpack(raw)
    return Lane(name, slots, bool(strict), *others)


def window_key(traits: bytes) -> str | None:
    """The unique key that a job is to hold for a time."""
    at = 0
    while at < len(traits):
        tag, length = _TRAIT.unpack_from(traits, at)
        at += _TRAIT.size
        if tag == WINDOW:
            return traits[at + _WINDOW.size : at + length].decode()
        at += length
    return None


def with_traits(record: bytes, traits: bytes) -> bytes:
    """The record of a new job, as the scripts that take it in want it."""
    return record + traits + _LENGTH.pack(len(traits)) if traits else record


def without_traits(record: bytes) -> tuple[bytes, bytes]:
    """The record of a new job that has traits, and these."""
    last = len(record) - _LENGTH.size
    (length,) = _LENGTH.unpack_from(record, last)
    return record[: last - length], record[last - length : last]


def _trait(tag: int, value: bytes) -> bytes:
    return _TRAIT.pack(tag, len(value)) + value
