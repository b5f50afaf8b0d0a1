"""A free graph of steps that can be enqueued as a workflow."""

from __future__ import annotations

from typing import Any, TypeVar, overload

from ..errors import InvalidOption
from .flow import Ends, Flow, Layout, refuse_empty
from .graph import Graph, Node

R = TypeVar("R")


class Dag(Graph):
    """Steps in any order that has no cycle: what chains and groups cannot say."""

    @overload
    def flow(self) -> Flow[None]: ...
    @overload
    def flow(self, result: Node[R], /) -> Flow[R]: ...
    @overload
    def flow(self, result: Node[R], second: Node[R], /, *more: Node[R]) -> Flow[list[R]]: ...
    def flow(self, *results: Node[Any]) -> Flow[Any]:
        """The graph as a flow: comes to the result of a node, the list of several, or None."""
        refuse_empty(self.nodes, "graph")
        self.refuse_strangers(results)

        def lay(into: Graph, before: Ends) -> Layout:
            yield from ()  # it has no parts
            if before.nodes or into.nodes:
                raise InvalidOption("The flow of a Dag can only be the first part of another.")
            into.nodes.update(self.nodes)
            return Ends(results, gathers=len(results) > 1)

        return Flow(lay)
