"""Accepting jobs in a transaction of the user's without locks that reach beyond its own rows.

At REPEATABLE READ, the server's default, a locking read by any index but the primary one also
locks the gap before the row, or the gap where it would be; an insert that meets the same unique
value does so at every isolation. Ids are in order of time: one such gap is where every new job
goes. So what an operation asks for is found here without a lock, and then locked by its primary
key. What this transaction cannot see, because it was committed since its beginning, is met by an
insert.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final
from uuid import uuid4

from ...core.model import NewJob
from ..sql.operation import Bulk, Operation, Row, Rows, Statement, T
from ..sql.rows import LOCK_COLUMNS, json_array
from .script import several

ID, KEY = 0, 9
"""Where a row of `insert` has them."""

END: Final = "\0"
"""How ids of turns begin that are no jobs: an id of a job has printable characters."""

IN_LANE: Final = {"in_lane": "turns_in_lane", "in_lane_order": "turns_in_lane_order"}
UNLOCKED: Final = {"greatest": "seen_greatest", "tops": "seen_tops"}
"""Queries, and those that are asked in their place."""

HELD_ID: Final = 1 + LOCK_COLUMNS.index("id")
HELD_KEY: Final = 1 + LOCK_COLUMNS.index("unique_key")
"""Where a row of `hold` has them."""


class Gapless:
    """Stands between the operation that accepts these jobs and the user's connection."""

    def __init__(self, jobs: Sequence[NewJob]) -> None:
        self._mine = {job.id for job in jobs}
        self._given = {job.id for job in jobs if not job.fresh}
        self._ids: set[str] = set()
        self._keys: set[str] = set()
        """of rows that we have inserted, or that were in the way of them"""
        self._numbers: dict[str, int] = {}
        """the primary keys of live jobs"""
        self._probed: set[str] = set()
        self._lanes: set[tuple[str, str]] = set()
        """that are there by now, whether or not they can be seen"""
        self._ways: Mapping[str, Callable[[Any], Operation[Any]]] = {
            "add_edge": self._add_edge,
            "add_lane": self._add_lane,
            "admit": self._admit,
            "finished_ids": self._finished_ids,
            "free_windows": self._free_windows,
            "greatest": _unlocked,
            "holders": self._holders,
            "in_lane": self._first_in_lane,
            "in_lane_order": self._first_in_lane,
            "insert": self._insert,
            "join": self._join,
            "lanes": self._read_lanes,
            "let_go": self._let_go,
            "lock": self._lock,
            "places": self._places,
            "replace": self._replace,
            "set_ticket": self._set_ticket,
            "standing": self._within_lane,
            "take_back": self._take_back,
            "tops": _unlocked,
            "windows": self._windows,
        }

    def run(self, operation: Operation[T]) -> Operation[T]:
        answer: Any = None
        while True:
            try:
                asked = operation.send(answer)
            except StopIteration as stop:
                result: T = stop.value
                return result
            way = self._ways.get(asked.query)
            if way is None:
                answer = yield asked
            else:
                answer = yield from way(asked)

    # -- whether an id or a key is taken -------------------------------------------------

    def _insert(self, asked: Bulk) -> Operation[int]:
        """Leave out those whose id or key is seen to be taken; of the others the insert tells."""
        ids = [row[ID] for row in asked.rows if row[ID] in self._given]
        keys = [row[KEY] for row in asked.rows if row[KEY] is not None]
        held = yield from self._held([*(yield from self._see(ids)), *(yield from _by_key(keys))])
        taken_ids = {row[HELD_ID] for row in held}
        taken_keys = {row[HELD_KEY] for row in held} - {None}
        rows = [
            row for row in asked.rows if row[ID] not in taken_ids and row[KEY] not in taken_keys
        ]
        if not rows:
            return 0
        changed: int = yield Bulk("insert", rows)
        self._ids.update([row[ID] for row in rows])
        self._keys.update([row[KEY] for row in rows if row[KEY] is not None])
        # What was in the way of a row counts twice: this must not make up for one left out.
        return changed if len(rows) == len(asked.rows) else -1

    def _places(self, asked: Statement) -> Operation[Rows]:
        """Who is not seen is not ours."""
        rows = yield Statement("seen", {"ids": several(asked.params["ids"])})
        return [(id, place) for _, id, place in rows]

    def _holders(self, asked: Statement) -> Operation[Rows]:
        keys = set(several(asked.params["keys"]))
        held = yield from self._held((yield from _by_key(sorted(keys))))
        found: list[Row] = [(row[HELD_KEY], row[HELD_ID]) for row in held if row[HELD_KEY] in keys]
        met = (keys - {key for key, _ in found}) & self._keys
        if met:
            found += yield Statement("holders", {"keys": sorted(met)})
        return found

    def _finished_ids(self, asked: Statement) -> Operation[Rows]:
        """Once a row has its id, nobody else can end a job of it: then what cannot be seen is
        asked for too."""
        ids = several(asked.params["ids"])
        seen = {id for *_, id in (yield from _see_finished(ids))}
        unseen = [id for id in ids if id in self._ids and id not in seen | self._probed]
        if unseen:
            self._probed.update(unseen)
            seen |= yield from _unseen_finished(unseen)
        return [(id,) for id in seen]

    def _windows(self, asked: Statement) -> Operation[Rows]:
        """Who takes a window comes in with its key: of one that is ours, no window can come."""
        keys, now = several(asked.params["keys"]), asked.params["now"]
        ours = sorted(self._keys.intersection(keys))
        rows: list[Row] = []
        if ours:
            yield Bulk("probe_windows", [(key,) for key in ours])
            rows += yield Statement("windows", {"keys": ours, "now": now})
            yield Statement("drop_windows", {"keys": ours, "ids": [""]})
        others = [key for key in keys if key not in self._keys]
        if others:
            rows += yield Statement("seen_windows", {"keys": others, "now": now})
        return rows

    # -- jobs by id ----------------------------------------------------------------------

    def _see(self, ids: Collection[str]) -> Operation[list[int]]:
        """The numbers of the live jobs of these ids that can be seen."""
        if not ids:
            return []
        rows = yield Statement("seen", {"ids": list(ids)})
        self._numbers.update({id: number for number, id, _ in rows})
        return [number for number, _, _ in rows]

    def _held(self, numbers: Iterable[int]) -> Operation[list[Row]]:
        """What there is of these jobs, held until the commit: number and lock columns."""
        wanted = sorted(set(numbers))
        if not wanted:
            return []
        rows = yield Statement("hold", {"numbers": json_array(wanted)})
        self._numbers.update({row[HELD_ID]: row[0] for row in rows})
        return list(rows)

    def _numbers_of(self, ids: Sequence[str]) -> Operation[list[int]]:
        """The numbers of jobs that are ours, or that we hold."""
        unknown = [id for id in ids if id not in self._numbers]
        yield from self._see(unknown)
        return [self._numbers[id] for id in ids]

    def _lock(self, asked: Statement) -> Operation[Rows]:
        ids = several(asked.params["ids"])
        found: list[Row] = [row[1:] for row in (yield from self._held((yield from self._see(ids))))]
        left = set(ids) - {row[0] for row in found}
        rows = yield from _see_finished(sorted(left))
        if rows:
            found += yield Statement(
                "hold_finished", {"rows": json_array([[*r[:3]] for r in rows])}
            )
        left -= {row[0] for row in found}
        # What is to come in was looked for already, or will be met there.
        for id in sorted(left - (self._mine - self._ids)):
            found += yield from self._lock_unseen(id)
        return found

    def _all_numbers_of(self, ids: Sequence[str]) -> Operation[list[int]]:
        """The same, of jobs that may be newer than what can be seen."""
        yield from self._see([id for id in ids if id not in self._numbers])
        unseen = [id for id in ids if id not in self._numbers]
        if unseen:
            rows = yield Statement("lock_newer", {"ids": unseen})
            self._numbers.update({row[HELD_ID]: row[0] for row in rows})
        return [self._numbers[id] for id in ids if id in self._numbers]

    def _lock_unseen(self, id: str) -> Operation[Rows]:
        """A job that came since our beginning, if there is one."""
        yield Bulk("probe_job", [(id,)])
        probe = yield from self._see([id])
        if probe:
            yield Statement("remove", {"numbers": json_array(probe)})
            del self._numbers[id]
        else:
            rows = yield Statement("lock_newer", {"ids": [id]})
            self._numbers.update({row[HELD_ID]: row[0] for row in rows})
            return [row[1:] for row in rows]
        if (yield from _unseen_finished([id])):
            ended: Rows = yield Statement("lock_newer_finished", {"ids": [id]})
            return ended
        return ()

    # -- writing -------------------------------------------------------------------------

    def _take_back(self, asked: Bulk) -> Operation[None]:
        numbers = yield from self._see([id for (id,) in asked.rows])
        yield Statement("remove", {"numbers": json_array(numbers)})

    def _let_go(self, asked: Bulk) -> Operation[None]:
        numbers = yield from self._numbers_of([id for (id,) in asked.rows])
        yield Bulk("let_go_by_number", [(number,) for number in numbers])

    def _replace(self, asked: Bulk) -> Operation[None]:
        ids = [row[-1] for row in asked.rows]
        numbers = yield from self._numbers_of(ids)
        rows = [(*row[:-1], number) for row, number in zip(asked.rows, numbers, strict=True)]
        yield Bulk("replace_by_number", rows)
        yield Bulk("probe_turns", [(id,) for id in ids])
        yield Statement("drop_turns", {"ids": ids})

    def _join(self, asked: Bulk) -> Operation[None]:
        numbers = yield from self._numbers_of([row[-1] for row in asked.rows])
        rows = [(*row, number) for row, number in zip(asked.rows, numbers, strict=True)]
        yield Bulk("join_by_number", rows)

    def _add_edge(self, asked: Bulk) -> Operation[None]:
        parents = sorted({row[0] for row in asked.rows})
        yield Statement("mark_awaited", {"refs": (yield from self._numbers_of(parents))})
        yield Bulk("add_edge_alone", asked.rows)

    def _free_windows(self, asked: Statement) -> Operation[None]:
        ids = several(asked.params["ids"])
        keys = [key for (key,) in (yield Statement("seen_windows_of", {"ids": ids}))]
        if keys:
            yield Statement("drop_windows", {"keys": keys, "ids": ids})

    def _read_lanes(self, asked: Statement) -> Operation[Rows]:
        """Those that cannot be seen are made first, and are asked for again then."""
        queue, names = asked.params["queue"], several(asked.params["names"])
        seen = {name for (name,) in (yield Statement("seen_lanes", asked.params))}
        known = [name for name in names if name in seen or (queue, name) in self._lanes]
        if not known:
            return ()
        rows: Rows = yield Statement("lanes", {"queue": queue, "names": known})
        return rows

    def _within_lane(self, asked: Statement) -> Operation[Rows]:
        """A look at the turns of a lane, whose row is held."""
        ends = _ends()
        yield Bulk("probe_lane", [(*ends, asked.params["queue"], asked.params["lane"])])
        rows: Rows = yield asked
        yield Statement("drop_turns", {"ids": ends})
        return rows

    def _first_in_lane(self, asked: Statement) -> Operation[Rows]:
        turns = yield from self._within_lane(Statement(IN_LANE[asked.query], asked.params))
        ids = [id for (id,) in turns]
        if not ids:
            return ()
        numbers = yield from self._all_numbers_of(ids)
        rows = yield Statement("hold_waiting", {"numbers": json_array(numbers)})
        found = {id: (id, state, due) for _, id, state, due in rows}
        return [found[id] for id in ids if id in found]

    def _admit(self, asked: Bulk) -> Operation[None]:
        numbers = yield from self._numbers_of([id for (id,) in asked.rows])
        rows = [(id, number) for (id,), number in zip(asked.rows, numbers, strict=True)]
        yield Bulk("admit_by_number", rows)

    def _set_ticket(self, asked: Bulk) -> Operation[None]:
        numbers = yield from self._numbers_of([row[-1] for row in asked.rows])
        rows = [(*row[:-1], number) for row, number in zip(asked.rows, numbers, strict=True)]
        yield Bulk("set_ticket_by_number", rows)

    def _add_lane(self, asked: Bulk) -> Operation[None]:
        self._lanes.update((row[0], row[1]) for row in asked.rows)
        yield asked


def _unlocked(asked: Statement) -> Operation[Rows]:
    """Where groups stand, whose clock is held: a lock would keep workers from claiming them. What
    came since our beginning may get the same place as ours, which does no harm."""
    rows: Rows = yield Statement(UNLOCKED[asked.query], asked.params)
    return rows


def _ends() -> list[str]:
    """Ids for two turns that are there for a moment."""
    return [f"{END}{end}{uuid4().hex}" for end in "<>"]


def _by_key(keys: Sequence[str]) -> Operation[list[int]]:
    """The numbers of the holders of these keys that can be seen."""
    if not keys:
        return []
    return [number for (number,) in (yield Statement("seen_by_key", {"keys": keys}))]


def _see_finished(ids: Sequence[str]) -> Operation[Rows]:
    if not ids:
        return ()
    rows: Rows = yield Statement("seen_finished", {"ids": ids})
    return rows


def _unseen_finished(ids: Sequence[str]) -> Operation[set[str]]:
    """Of ids of which no finished job can be seen, those of which there is one."""
    yield Bulk("probe_finished", [(id, n) for n, id in enumerate(ids)])
    probes = yield from _see_finished(ids)
    if probes:
        yield Statement("drop_finished_probes", {"numbers": json_array([row[2] for row in probes])})
    return set(ids) - {id for *_, id in probes}
