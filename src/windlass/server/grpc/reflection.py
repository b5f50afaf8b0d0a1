"""Lets tools ask what is served: `grpc.reflection.v1alpha`, by grpc's own servicer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

from google.protobuf.message import Message
from grpc_reflection.v1alpha import reflection  # type: ignore[import-untyped]

from .call import Call


class Reflection:
    """Describes the services of these names."""

    def __init__(self, services: Sequence[str]) -> None:
        self._servicer = reflection.aio.ReflectionServicer(services)

    def server_reflection_info(self, call: Call[Any]) -> AsyncIterator[Message]:
        answers: AsyncIterator[Message] = self._servicer.ServerReflectionInfo(
            call.request, call.context
        )
        return answers
