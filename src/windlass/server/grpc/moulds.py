"""New jobs out of messages, quickly: most jobs of a batch differ in payload and id alone.

The rest of a message, as bytes, finds the mould that was made for it before.
"""

from __future__ import annotations

from typing import Final

from ...core.model import NewJob
from ...errors import InvalidOption
from ...protocol.windlass_pb2 import NewJob as Message
from ..mould import NO_TYPE, Mould
from ..offer import Offers
from .requests import job_request

MOST: Final = 500
"""Moulds that are remembered; then it begins anew."""


class Moulds:
    """Those of one server."""

    def __init__(self, offers: Offers) -> None:
        self._offers = offers
        self._known: dict[bytes, Mould] = {}

    def job(self, message: Message) -> NewJob:
        """The job that a message asks for. Takes payload and id out of it."""
        payload: bytes | None = message.payload
        if not payload and not message.HasField("payload"):
            payload = None
        message.ClearField("payload")
        id = message.id
        if id:
            message.ClearField("id")
        mould = self._known.get(key := message.SerializeToString())
        if mould is None:
            mould = self._add(key, message)
        if payload is not None and not mould.is_typed:
            raise InvalidOption(NO_TYPE)
        return mould.job(payload, id)

    def _add(self, key: bytes, message: Message) -> Mould:
        mould = self._offers.mould(job_request(message))
        if len(self._known) >= MOST:
            self._known.clear()
        self._known[key] = mould
        return mould
