"""A graph of steps: who waits for whom, and whose result goes where."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, Generic, TypeVar

from ..core.step import Step, checked_step
from ..errors import InvalidOption
from .order import in_order

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class Node(Generic[R_co]):
    """A step in its place. `inputs` are those whose results are its first arguments."""

    __slots__ = ("after", "gathers", "inputs", "step")

    def __init__(
        self, step: Step[R_co], inputs: Sequence[Node[Any]], gathers: bool, after: set[Node[Any]]
    ) -> None:
        self.step = step
        self.inputs = inputs
        self.gathers = gathers
        """the results come as one list"""
        self.after = after

    def __repr__(self) -> str:
        return f"<Node {self}>"

    def __str__(self) -> str:
        return self.step.job.spec.task

    @property
    def parents(self) -> Sequence[Node[Any]]:
        """All that it waits for, those first whose results it gets."""
        return [*dict.fromkeys([*self.inputs, *self.after])]


Nodes = Node[Any] | Iterable[Node[Any]]


class Graph:
    """Steps and their order, put together one by one."""

    def __init__(self) -> None:
        self.nodes: dict[Node[Any], None] = {}

    def add(
        self,
        step: Step[R],
        *,
        takes: Nodes = (),
        gathers: Iterable[Node[Any]] | None = None,
        after: Nodes = (),
    ) -> Node[R]:
        """Put a step in its place.

        The results of those that it `takes` are its first arguments, in this order. With
        `gathers` they are one list, its first argument. Those that it comes `after` give it
        nothing. It waits for all of them.
        """
        checked_step(step, "What is added to a graph")
        taken, before = _nodes(takes), _nodes(after)
        if taken and gathers is not None:
            raise InvalidOption("A step either takes results or gathers them in a list, not both.")
        inputs = taken if gathers is None else _nodes(gathers)
        self.refuse_strangers([*inputs, *before])
        if len(set(inputs)) < len(inputs):
            raise InvalidOption("A step gets the result of another once; it is named twice here.")
        step.check(len(inputs) if gathers is None else 1)
        return self.place(Node(step, inputs, gathers is not None, set(before)))

    def place(self, node: Node[R]) -> Node[R]:
        """Take a node as it is; whether its arguments fit is for others to know."""
        self.nodes[node] = None
        return node

    def order(self, *nodes: Node[Any]) -> None:
        """Let each of these wait for the one before it; a cycle is `InvalidOption`."""
        self.refuse_strangers(nodes)
        parents = {node: [*node.parents] for node in self.nodes}
        for before, after in pairwise(nodes):
            parents[after].append(before)
        in_order(parents)
        for before, after in pairwise(nodes):
            after.after.add(before)

    def in_order(self) -> Sequence[Node[Any]]:
        """Every node after all that it waits for."""
        return in_order({node: node.parents for node in self.nodes})

    def leaves(self) -> Sequence[Node[Any]]:
        """Those that nobody waits for."""
        awaited = {parent for node in self.nodes for parent in node.parents}
        return [node for node in self.nodes if node not in awaited]

    def refuse_strangers(self, nodes: Iterable[Node[Any]]) -> None:
        """Raise for nodes of other graphs."""
        for node in nodes:
            if not isinstance(node, Node) or node not in self.nodes:
                raise InvalidOption(f"{node!r} is not in this graph; use what its add(…) returned.")


def _nodes(given: Nodes) -> list[Node[Any]]:
    return [given] if isinstance(given, Node) else [*given]
