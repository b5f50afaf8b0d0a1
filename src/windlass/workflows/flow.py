"""Flows: chains, groups and chords of steps, and how they are laid out."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any, Final, NamedTuple, TypeVar, overload

from ..core.step import Link, Part, Step
from ..errors import InvalidOption, shown
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


Layout = Generator[tuple[Part[Any], Ends], Ends | None, Ends]
"""A flow being laid out: asks for each of its parts to be laid after some ends, gives its own."""


class Flow(Part[R_co]):
    """Steps that run as one workflow; made by `chain`, `group`, `chord` or `Dag.flow`."""

    __slots__ = ("lay", "tail")

    def __init__(self, lay: Callable[[Graph, Ends], Layout]) -> None:
        self.lay = lay
        """puts the nodes into a graph, after those ends"""
        # So that what cannot fit is told where it is written.
        self.tail = _lay(self, Graph(), UNKNOWN)
        """its ends if nobody knows what comes before, in a graph that nobody needs"""


Next = Link[A, B] | Flow[B]
"""What can follow something that comes to an `A`, to come to a `B` itself."""


def plan(part: Part[Any]) -> Plan:
    """Lay a flow out, and refuse steps whose arguments do not fit what flows to them."""
    graph = Graph()
    ends = _lay(part, graph, NOTHING)
    return Plan(graph.in_order(), graph.leaves(), ends)


def _lay(part: Part[Any], graph: Graph, before: Ends) -> Ends:
    """Without recursion: flows that a loop puts into each other can be thousands deep."""
    if not isinstance(part, Flow):
        return _placed(part, graph, before)
    under_way = [part.lay(graph, before)]
    ends: Ends | None = None
    while under_way:
        try:
            inner, before = under_way[-1].send(ends)
        except StopIteration as end:
            ends = end.value
            under_way.pop()
            continue
        ends = None
        if not isinstance(inner, Flow):
            ends = _placed(inner, graph, before)
        elif before.known or graph.nodes or not inner.tail.nodes:
            under_way.append(inner.lay(graph, before))
        else:
            # It was checked when it was made: a chain that a loop makes longer is looked at once.
            ends = inner.tail
            for node in ends.nodes:
                graph.place(node)
    assert ends is not None
    return ends


def _placed(part: Part[Any], graph: Graph, before: Ends) -> Ends:
    if not isinstance(part, Step):
        raise InvalidOption(
            f"A flow is made of task.step(…) and of other flows; got {shown(part)}."
        )
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

    def lay(graph: Graph, before: Ends) -> Layout:
        for part in parts:
            before = _of((yield part, before))
        return before

    return Flow(lay)


def group(*parts: Part[R]) -> Flow[list[R]]:
    """All at the same time; comes to the list of all results, in this order.

    Within a chain each gets the result of what came before. The results of a group within a
    group are in the same list as the others.
    """
    refuse_empty(parts, "group")

    def lay(graph: Graph, before: Ends) -> Layout:
        nodes: list[Node[Any]] = []
        for part in parts:
            nodes += _of((yield part, before)).nodes
        return Ends(nodes, gathers=True)

    return Flow(lay)


def chord(parts: Flow[A], callback: Next[A, R], /) -> Flow[R]:
    """A group, and a step that gets the list of all its results."""
    return chain(parts, callback)


def _of(ends: Ends | None) -> Ends:
    """What a part came to; nothing is sent only to begin with."""
    assert ends is not None
    return ends


def refuse_empty(parts: object, what: str) -> None:
    if not parts:
        raise InvalidOption(f"A {what} needs at least one step.")
