"""Producers without an app: jobs by the names of their tasks, on a store that a URL names.

The URL is most often that of a server, so that no database need be reached from here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from types import TracebackType
from typing import Any, Self, Unpack

from .client import Client
from .core.codec import MAX_PAYLOAD, Codec, Codecs
from .core.options import Options, TaskOptions
from .core.rebinding import rebound
from .core.url import without_secrets
from .definition import elsewhere
from .errors import InvalidOption
from .middleware import Middleware, Stack
from .producer import Producer, explain
from .task import Task, Wire


class Connection(Producer):
    """Jobs on one store, for a program that has no code of theirs.

    Making one connects to nothing; the store is opened on first use. `with` closes it in blocking
    code, `async with` in async code.
    """

    def __init__(self, wire: Wire, where: str) -> None:
        super().__init__(wire)
        self._where = where

    def __repr__(self) -> str:
        return f"<Connection {self._where}>"

    def task(self, name: str, **options: Unpack[TaskOptions]) -> Task[..., Any, Any]:
        """The task of a name, which a worker has: it takes any arguments, and gives any result.

        Options are those of its jobs; none is known here that the app gives to the task.
        """
        return Task(elsewhere(name), Options().merged(options), self._wire)

    async def aclose(self) -> None:
        """Close what async code on this event loop used."""
        await self.client.aclose()

    def close(self) -> None:
        """Close what blocking code used."""
        self.client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()


def connect(
    url: str,
    *,
    key: str | None = None,
    codec: Codec | None = None,
    codecs: Sequence[Codec] = (),
    max_payload: int = MAX_PAYLOAD,
    middleware: Iterable[Middleware] = (),
) -> Connection:
    """A connection to a server, as in `connect("https://jobs.example.com", key="wl_…")`.

    Without `key` it is the one in the URL, or in WINDLASS_API_KEY. The URL of any other store does
    as well. `codec` writes the arguments; those of workers in other languages are in JSON.
    """
    if max_payload < 1:
        raise InvalidOption("max_payload is a number of bytes above 0.")
    stack = Stack()
    for each in middleware:
        stack.add(each)
    where = without_secrets(url)
    if key is not None:
        # Here, since it is good for nothing else: the rest of the package knows no keys.
        from .stores.remote.url import with_key

        url = with_key(url, key)
    client = Client(url, events=stack.events, explain=explain)
    known = Codecs(codec, *codecs, limit=max_payload)
    stack.rebound = partial(rebound, known)
    return Connection(Wire(client, known, max_payload, stack, {}), where)
