"""Who waits for whom, and what the end of a job means for those who waited for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...core.dependents import Fate, fate


class Dependents:
    """The open edges from parents to dependents. An edge is open until its parent has ended."""

    def __init__(self) -> None:
        self._children: dict[str, dict[str, None]] = {}
        self._parents: dict[str, dict[str, None]] = {}
        self._runs_anyway: dict[str, bool] = {}

    def add(self, child: str, parents: Iterable[str], *, runs_anyway: bool) -> None:
        self._parents[child] = dict.fromkeys(parents)
        self._runs_anyway[child] = runs_anyway
        for parent in self._parents[child]:
            self._children.setdefault(parent, {})[child] = None

    def waits_for(self, child: str) -> tuple[str, ...]:
        return tuple(self._parents.get(child, ()))

    def forget(self, child: str) -> None:
        """A dependent that waits no longer."""
        for parent in self._parents.pop(child, {}):
            self._children[parent].pop(child)
        self._runs_anyway.pop(child, None)

    def ended(self, parent: str, *, completed: bool) -> Sequence[tuple[str, Fate]]:
        """Close the edges of a parent; what that means for each of its dependents."""
        return [
            self._close(child, parent, completed) for child in [*self._children.get(parent, ())]
        ]

    def _close(self, child: str, parent: str, completed: bool) -> tuple[str, Fate]:
        del self._children[parent][child], self._parents[child][parent]
        decided = fate(
            completed=completed,
            runs_anyway=self._runs_anyway[child],
            open_parents=len(self._parents[child]),
        )
        if decided is not Fate.WAITS:
            self.forget(child)
        return child, decided
