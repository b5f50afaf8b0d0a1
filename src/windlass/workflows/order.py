"""Jobs that depend on each other: the order that they must be stored in."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Final, TypeVar

from ..core.model import NewJob
from ..errors import InvalidOption

K = TypeVar("K", bound=Hashable)

SHOWN: Final = 5


def in_order(parents: Mapping[K, Iterable[K]]) -> Sequence[K]:
    """Each after all of its parents; `InvalidOption` for a cycle."""
    try:
        return list(TopologicalSorter(parents).static_order())
    except CycleError as error:
        # The first one is there once more, at the end.
        circle = [str(each) for each in error.args[1]]
        more = ["…"] if len(circle) > SHOWN + 1 else []
        text = " -> ".join([*circle[:-1][:SHOWN], *more, circle[-1]])
        raise InvalidOption(
            f"These jobs wait for each other and could never run: {text}."
        ) from None


def refuse_disorder(jobs: Sequence[NewJob]) -> None:
    """Raise if one of these jobs depends on another that comes later in the same call."""
    if not any(job.spec.parents for job in jobs):
        return
    # Of several of one id the first counts, and the others are its duplicates.
    places: dict[str, int] = {}
    waiting: dict[str, tuple[str, ...]] = {}
    for place, job in enumerate(jobs):
        if places.setdefault(job.id, place) == place and job.spec.parents:
            waiting[job.id] = job.spec.parents
    wrong = [
        (id, parent)
        for id, parents in waiting.items()
        for parent in parents
        if places.get(parent, -1) >= places[id]
    ]
    if wrong:
        in_order({id: [p for p in parents if p in places] for id, parents in waiting.items()})
        id, parent = wrong[0]
        raise InvalidOption(
            f"Job {id} depends on {parent}, which comes after it in the same call: put {parent} "
            "first."
        )
