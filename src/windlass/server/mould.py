"""Jobs that are alike: what a request says of them is checked once, and what differs for each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal

import msgspec
from msgspec import UnsetType
from msgspec.structs import astuple, replace

from ..core.bigint import read_extension
from ..core.binding import EncryptingCodec, with_key_in_id, with_key_in_new_id
from ..core.codec import JSON, MSGPACK, Codec, decode_call, encode_call, too_large
from ..core.ids import checked_id, new_id
from ..core.keyed import Caller, keyed
from ..core.model import NewJob, Spec
from ..errors import CorruptRecord, InvalidOption
from ..middleware import changed
from ..task import Task

NO_TYPE: Final = "payload needs content_type: json, msgpack or protobuf."

_Record = tuple[Literal[1], list[Any], dict[str, Any]]
_from_json: Final = msgspec.json.Decoder(_Record).decode
_from_msgpack: Final = msgspec.msgpack.Decoder(_Record, ext_hook=read_extension).decode
"""They read the record of a call in one step; what is wrong with one is not their business."""


class Mould:
    """Makes jobs of one task with one set of options; their payloads are stored as they come."""

    __slots__ = (
        "_arguments", "_checks", "_codec", "_encrypts", "_headers", "_marks", "_max_payload",
        "_name", "_options", "_quick", "_rest", "_rest_of_spec", "_validates", "is_typed",
    )  # fmt: skip

    def __init__(
        self,
        task: Task[..., Any, Any],
        codec: Codec,
        max_payload: int,
        headers: dict[str, str] | UnsetType,
        *,
        checks: bool,
        is_typed: bool,
        marks: bool,
    ) -> None:
        self._name = task.name
        self._options = task.options
        self._arguments = task.definition.arguments
        self._validates = task.definition.validate
        self._checks = checks
        """whether it is known here what the task takes"""
        self._codec = codec
        self._encrypts = isinstance(codec, EncryptingCodec)
        self._marks = marks
        """whether jobs that are encrypted may take the places of these"""
        self._quick: Callable[[bytes], Any] | None = None
        if codec is JSON or codec is MSGPACK:
            self._quick = _from_json if codec is JSON else _from_msgpack
        self.is_typed = is_typed
        """whether the content type was given, which a payload needs"""
        self._max_payload = max_payload
        self._headers = headers
        sample = task.options.new_job(task.name, b"", codec.name)
        self._rest = astuple(sample)[2:]
        self._rest_of_spec = astuple(sample.spec)[2:]

    def job(self, payload: bytes | None = None, id: str = "") -> NewJob:
        """One more; without a payload it has no arguments, and without an id it gets one."""
        if payload is None:
            return self.call([], {}, id)
        if len(payload) > self._max_payload:
            raise too_large(f"The arguments of {self._name}", payload, self._max_payload)
        args, kwargs = self._arguments_in(payload, id)
        self._check(args, kwargs)
        return self._made(payload, args, kwargs, id)

    def call(self, args: list[Any], kwargs: dict[str, Any], id: str = "") -> NewJob:
        """One more, of arguments that are still to be written."""
        self._check(args, kwargs)
        if self._encrypts:
            made = self._made(b"", args, kwargs, id)
            payload = self._written(args, kwargs, made.id)
            return replace(made, spec=replace(made.spec, payload=payload))
        return self._made(self._written(args, kwargs), args, kwargs, id)

    def _written(self, args: list[Any], kwargs: dict[str, Any], id: str = "") -> bytes:
        payload = encode_call(self._codec, tuple(args), kwargs, id, self._name)
        if len(payload) > self._max_payload:
            raise too_large(f"The arguments of {self._name}", payload, self._max_payload)
        return payload

    def _check(self, args: list[Any], kwargs: dict[str, Any]) -> None:
        """Refuse what a worker would refuse, as far as it is known here what the task takes."""
        if not self._checks:
            return
        self._arguments.check(args, kwargs)
        if self._validates and not self._arguments.fits(args, kwargs):
            # Copies: to see whether it fits, a value is converted in place.
            copies = [*args], {**kwargs}
            self._arguments.refuse_misfits(*copies, binary=self._codec.binary)

    def _made(self, payload: bytes, args: list[Any], kwargs: dict[str, Any], id: str) -> NewJob:
        spec = Spec(self._name, payload, *self._rest_of_spec)
        made = NewJob(new_id(), spec, *self._rest)
        if self._options.keyed:
            made = keyed(made, self._options, Caller(self._arguments, args, kwargs))
        if id:
            if checked_id(id) in self._options.depends_on:
                raise InvalidOption(f"Job {id} cannot depend on itself.")
            made = replace(made, id=id, fresh=False)
        if self._encrypts:
            made = with_key_in_id(made)
        elif self._marks:
            made = with_key_in_new_id(made)
        return changed(made, headers=self._headers) if self._headers else made

    def _arguments_in(self, payload: bytes, id: str) -> tuple[list[Any], dict[str, Any]]:
        if self._quick is not None:
            try:
                _, args, kwargs = self._quick(payload)
                return args, kwargs
            except (ValueError, RecursionError):
                pass  # the slow way below says what is wrong with it, or can read it
        return call_in(self._codec, payload, id, self._name)


def call_in(codec: Codec, payload: bytes, id: str, task: str) -> tuple[list[Any], dict[str, Any]]:
    """The arguments in a payload that someone else has written."""
    if not id and isinstance(codec, EncryptingCodec):
        raise InvalidOption(
            f"A payload in {codec.name} is bound to the id of its job: give the id as well."
        )
    try:
        return decode_call(codec, payload, id, task)
    except CorruptRecord as error:
        raise InvalidOption(
            f"payload is not a call in {codec.name}, which is [1, args, kwargs]: {error}"
        ) from None
