"""Whose rows are locked first: those of lanes, then those of jobs."""

from __future__ import annotations

from collections.abc import Sequence

from ..sql.operation import Operation, Plan, Statement, T
from ..sql.rows import json_array


def hold_lanes(ids: Sequence[str], patience: str | None = None) -> Operation[set[str]]:
    """Hold the lanes that jobs are of, before anything of the jobs is; those that are in one.

    With `patience` the whole transaction waits for locks no longer than that.
    """
    rows = yield Statement("hold_lanes", {"ids": json_array(list(ids)), "patience": patience})
    return {id for (id,) in rows}


def lanes_first(ids: Sequence[str], plan: Plan[T]) -> Plan[T]:
    """An operation that moves jobs, begun with their lanes."""

    def begin(now: int) -> Operation[T]:
        yield from hold_lanes(ids)
        return (yield from plan(now))

    return begin
