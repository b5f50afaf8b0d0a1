"""Whether this server takes requests: `grpc.health.v1`, which balancers and probes ask."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

from google.protobuf.message import Message
from grpc_health.v1 import health_pb2  # type: ignore[import-untyped]

from ..faults import NotThere
from .call import Call


class Health:
    """Serving until it is told to stop."""

    def __init__(self, services: Sequence[str], draining: asyncio.Event) -> None:
        self._services = ("", *services)
        self._draining = draining

    async def check(self, call: Call[Any]) -> Message:
        name = call.request.service
        if name not in self._services:
            raise NotThere(f"There is no service {name!r} here.")
        return self._status()

    async def list(self, call: Call[Any]) -> Message:
        statuses = {name: self._status() for name in self._services}
        listed: Message = health_pb2.HealthListResponse(statuses=statuses)
        return listed

    async def watch(self, call: Call[Any]) -> AsyncIterator[Message]:
        """The status now and at each change; it changes once."""
        known = call.request.service in self._services
        # Before the answer goes out: the server may begin to stop meanwhile.
        is_last = self._draining.is_set()
        yield self._status() if known else _answer("SERVICE_UNKNOWN")
        if known and is_last:
            return
        await self._draining.wait()
        if known:
            yield self._status()

    def _status(self) -> Message:
        return _answer("NOT_SERVING" if self._draining.is_set() else "SERVING")


def _answer(status: str) -> Message:
    answer: Message = health_pb2.HealthCheckResponse(
        status=health_pb2.HealthCheckResponse.ServingStatus.Value(status)
    )
    return answer
