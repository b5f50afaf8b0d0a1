"""Calls of the gRPC API, repeated until they are answered or have taken too long."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final, TypeVar

import grpc
from google.protobuf.message import DecodeError, Message
from grpc import aio

from ...errors import StoreError, StoreUnavailable, Throttled, UsageError, WindlassError
from .effort import persist
from .fault import KINDS, Fault, unreadable
from .plain import warn_of_plain
from .url import Settings

M = TypeVar("M", bound=Message)

ERROR: Final = "windlass-error"
RETRY_AFTER: Final = "retry-after"
"""What goes along with a refusal: the name of the error in Python, and seconds to wait."""

OUTAGES: Final = frozenset(
    {
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.INTERNAL,
        grpc.StatusCode.UNKNOWN,
    }
)

OPTIONS: Final[list[tuple[str, Any]]] = [
    ("grpc.enable_retries", 0),  # `persist` does it
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
    ("grpc.initial_reconnect_backoff_ms", 50),
    ("grpc.max_reconnect_backoff_ms", 1_000),
]


class Channel:
    """Connections to one server, for the event loop that opened them."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._metadata = () if settings.key is None else (("x-api-key", settings.key),)
        self._channel: aio.Channel | None = None

    def open(self) -> None:
        _refuse_after_fork()
        warn_of_plain(self._settings)
        address = self._settings.address
        if self._settings.tls is None:
            self._channel = aio.insecure_channel(address, OPTIONS)
        else:
            self._channel = aio.secure_channel(address, _credentials(self._settings), OPTIONS)

    async def close(self) -> None:
        channel, self._channel = self._channel, None
        if channel is not None:
            await channel.close()

    async def ask(self, path: str, request: Message, kind: type[M]) -> M:
        """The answer to one call."""
        data = request.SerializeToString()
        answer = await persist(lambda: self._try(path, data), self._settings.patience)
        try:
            return kind.FromString(answer)
        except DecodeError as error:
            raise unreadable(self._settings.address, error) from error

    async def _try(self, path: str, data: bytes) -> bytes | Fault:
        if self._channel is None:
            raise StoreError("The store is closed; open it first.")
        call: Any = self._channel.unary_unary(path)
        try:
            answer: bytes = await call(
                data, metadata=self._metadata, timeout=self._settings.timeout
            )
            return answer
        except aio.AioRpcError as error:
            return _fault(error, self._settings.address)


_owner = 0
"""The process that opened the first channel."""


def _refuse_after_fork() -> None:
    """Raise where grpc would hang: its threads do not come along with a fork."""
    global _owner
    _owner = _owner or os.getpid()
    if _owner != os.getpid():
        raise StoreError(
            "gRPC was used before this process was forked, and does not work in it: connect after "
            "the fork only, or use the HTTP API of the server, as in https://host."
        )


def _credentials(settings: Settings) -> grpc.ChannelCredentials:
    pem = {name: Path(path).read_bytes() for name, path in settings.files.items()}
    own = pem.get("cert")
    # A certificate and its key may be in one file.
    return grpc.ssl_channel_credentials(pem.get("ca"), own and pem.get("cert_key", own), own)


def _fault(error: aio.AioRpcError, where: str) -> Fault:
    about = {str(key): str(value) for key, value in error.trailing_metadata() or ()}
    code, said = error.code(), error.details() or ""
    kind = KINDS.get(about.get(ERROR, ""))
    if code in OUTAGES:
        return Fault(_outage(kind, said, where), code in _PASSING)
    if kind is not None and issubclass(kind, Throttled):
        after = float(about.get(RETRY_AFTER, 1))
        return Fault(kind(said, after=after), passing=True, after=after)
    if kind is None and ERROR not in about:
        return Fault(_unexplained(code, said, where), passing=False)
    return Fault((kind or UsageError)(said), passing=False)


def _outage(kind: type[WindlassError] | None, said: str, where: str) -> WindlassError:
    if kind is not None and issubclass(kind, StoreError):
        return kind(said)
    reason = said.strip().rstrip(".").splitlines()[0] if said.strip() else "it gave no reason"
    return StoreUnavailable(
        f"The server at {where} did not answer as it should: {reason}; see that it runs and can be "
        "reached from here, then try again."
    )


def _unexplained(code: grpc.StatusCode, said: str, where: str) -> StoreError:
    reason = said.strip().rstrip(".") or code.name
    return StoreError(
        f"What answers at {where} is no Windlass server, or an older one ({reason}): check the URL."
    )


_PASSING: Final = frozenset({grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED})
