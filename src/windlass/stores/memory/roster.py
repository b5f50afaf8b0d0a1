"""Who leads, and which workers there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from ...core.workers import Order, Term, WorkerInfo
from ..contract import LONGEST_TERM

replace = msgspec.structs.replace


class Roster:
    """Leaderships and workers, each for as long as it was asked for."""

    def __init__(self) -> None:
        self._terms: dict[str, Term] = {}
        self._workers: dict[str, tuple[int, WorkerInfo]] = {}
        self._orders: dict[str, Order] = {}

    def elect(self, role: str, holder: str, until: int, now: int) -> Term | None:
        term = self._terms.get(role)
        latest = max(until, now + LONGEST_TERM)
        if term is not None and term.holder != holder and now < term.expires_at <= latest:
            return None
        if term is None or term.holder != holder:
            term = Term(holder, term.term + 1 if term else 1, until)
        self._terms[role] = replace(term, expires_at=until)
        return self._terms[role]

    def resign(self, role: str, holder: str) -> None:
        term = self._terms.get(role)
        if term is not None and term.holder == holder:
            self._terms[role] = Term("", term.term, 0)

    def leaders(self) -> Mapping[str, Term]:
        return {role: term for role, term in self._terms.items() if term.holder}

    def abandon(self, worker: str) -> None:
        for role in self._terms:
            self.resign(role, worker)
        self.leave(worker)

    def beat(self, worker: WorkerInfo, until: int, now: int) -> Order | None:
        if not self._is_listed(worker.id, now):
            self.leave(worker.id)
        self._workers[worker.id] = (until, replace(worker, seen_at=now))
        return self._orders.get(worker.id)

    def leave(self, worker: str) -> None:
        self._workers.pop(worker, None)
        self._orders.pop(worker, None)

    def direct(self, workers: Sequence[str], order: Order, now: int) -> frozenset[str]:
        listed = frozenset(id for id in workers if self._is_listed(id, now))
        self._orders.update(dict.fromkeys(listed, order))
        return listed

    def _is_listed(self, worker: str, now: int) -> bool:
        return worker in self._workers and self._workers[worker][0] > now

    def workers(self, now: int) -> Sequence[WorkerInfo]:
        heard_of = [
            replace(info, order=self._orders.get(info.id))
            for until, info in self._workers.values()
            if until > now
        ]
        return sorted(heard_of, key=lambda info: info.id)
