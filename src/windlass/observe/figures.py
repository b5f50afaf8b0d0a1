"""The numbers of one process, or of several together: they can be added up and sent."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from .ledger import Row, Spread


class Calls(msgspec.Struct):
    """The calls of one kind that a store was asked for."""

    spread: Spread = msgspec.field(default_factory=Spread)
    errors: int = 0


class Figures(msgspec.Struct):
    """All that is counted. `leads`, `slots` and `busy` are of now, and go with their process."""

    rows: dict[tuple[str, str], Row] = msgspec.field(default_factory=dict)
    calls: dict[str, Calls] = msgspec.field(default_factory=dict)
    lag: Spread = msgspec.field(default_factory=Spread)
    missed: int = 0
    late: int = 0
    leads: dict[str, bool] = msgspec.field(default_factory=dict)
    slots: int | None = None
    """None if there is no worker here"""
    busy: int = 0

    def row(self, key: tuple[str, str]) -> Row:
        row = self.rows.get(key)
        if row is None:
            row = self.rows[key] = Row()
        return row

    def add(self, other: Figures) -> None:
        """Take in the numbers of another process."""
        self.add_counts(other)
        for role, leads in other.leads.items():
            self.leads[role] = leads or self.leads.get(role, False)
        if other.slots is not None:
            self.add_slots(other.slots, other.busy)

    def add_slots(self, slots: int, busy: int) -> None:
        self.slots = (self.slots or 0) + slots
        self.busy += busy

    def add_rows(self, rows: Mapping[tuple[str, str], Row]) -> None:
        """Take in the rows of a ledger; another thread may write them meanwhile."""
        for key, row in list(rows.items()):
            self.row(key).add(row)

    def add_counts(self, other: Figures) -> None:
        """Take in what stays of a process that is gone."""
        self.add_rows(other.rows)
        for call, calls in other.calls.items():
            known = self.calls.setdefault(call, Calls())
            known.spread.add(calls.spread)
            known.errors += calls.errors
        self.lag.add(other.lag)
        self.missed += other.missed
        self.late += other.late


encode = msgspec.msgpack.Encoder().encode
decode = msgspec.msgpack.Decoder(Figures).decode
