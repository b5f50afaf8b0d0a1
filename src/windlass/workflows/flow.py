"""Flows: chains, groups and chords of steps, and how they are laid out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, TypeVar, overload

from ..core.step import Link, Part, Step
from ..errors import InvalidOption
from .graph import Graph, Node

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")
E = TypeVar("E")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class Ends(NamedTuple):
    """What a part comes to: the results of these nodes, as one list if it `gathers` them."""

    nodes: Sequence[Node[Any]]
    gathers: bool = False
    known: bool = True
    """if not, something may come before that is not told yet"""


class Plan(NamedTuple):
    """A flow laid out: every node after its parents, and what the whole comes to."""

    nodes: Sequence[Node[Any]]
    leaves: Sequence[Node[Any]]
    ends: Ends


NOTHING: Final = Ends(())
UNKNOWN: Final = Ends((), known=False)


class Flow(Part[R_co]):
    """Steps that run as one workflow; made by `chain`, `group`, `chord` or `Dag.flow`."""

    __slots__ = ("lay",)

    def __init__(self, lay: Callable[[Graph, Ends], Ends]) -> None:
        self.lay = lay
        """puts the nodes into a graph, after those ends, and gives its own"""
        lay(Graph(), UNKNOWN)  # so that what cannot fit is told where it is written


Next = Link[A, B] | Flow[B]
"""What can follow something that comes to an `A`, to come to a `B` itself."""


def plan(part: Part[Any]) -> Plan:
    """Lay a flow out, and refuse steps whose arguments do not fit what flows to them."""
    graph = Graph()
    ends = _lay(part, graph, NOTHING)
    return Plan(graph.in_order(), graph.leaves(), ends)


def _lay(part: Part[Any], graph: Graph, before: Ends) -> Ends:
    if isinstance(part, Flow):
        return part.lay(graph, before)
    if not isinstance(part, Step):
        raise InvalidOption(f"A flow is made of task.step(…) and of other flows; got {part!r}.")
    if not before.known:
        node = graph.place(Node(part, [], False, set()))
    elif before.gathers:
        node = graph.add(part, gathers=before.nodes)
    else:
        node = graph.add(part, takes=before.nodes)
    return Ends([node])


@overload
def chain(first: Part[A], /) -> Flow[A]: ...
@overload
def chain(first: Part[A], second: Next[A, B], /) -> Flow[B]: ...
@overload
def chain(first: Part[A], second: Next[A, B], third: Next[B, C], /) -> Flow[C]: ...
@overload
def chain(
    first: Part[A], second: Next[A, B], third: Next[B, C], fourth: Next[C, D], /
) -> Flow[D]: ...
@overload
def chain(
    first: Part[A],
    second: Next[A, B],
    third: Next[B, C],
    fourth: Next[C, D],
    fifth: Next[D, E],
    /,
) -> Flow[E]: ...
@overload
def chain(
    first: Part[Any],
    second: Part[Any],
    third: Part[Any],
    fourth: Part[Any],
    fifth: Part[Any],
    sixth: Part[Any],
    /,
    *more: Part[Any],
) -> Flow[Any]: ...
def chain(*parts: Part[Any]) -> Flow[Any]:
    """One after the other: each step gets the result of the one before as its first argument."""
    refuse_empty(parts, "chain")

    def lay(graph: Graph, before: Ends) -> Ends:
        for part in parts:
            before = _lay(part, graph, before)
        return before

    return Flow(lay)


def group(*parts: Part[R]) -> Flow[list[R]]:
    """All at the same time; comes to the list of all results, in this order.

    Within a chain each gets the result of what came before. The results of a group within a
    group are in the same list as the others.
    """
    refuse_empty(parts, "group")

    def lay(graph: Graph, before: Ends) -> Ends:
        ends = [_lay(part, graph, before) for part in parts]
        return Ends([node for end in ends for node in end.nodes], gathers=True)

    return Flow(lay)


def chord(parts: Flow[A], callback: Next[A, R], /) -> Flow[R]:
    """A group, and a step that gets the list of all its results."""
    return chain(parts, callback)


def refuse_empty(parts: object, what: str) -> None:
    if not parts:
        raise InvalidOption(f"A {what} needs at least one step.")
