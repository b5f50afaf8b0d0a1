"""Arguments and results as bytes, and back.

A codec gives back plain builtins (a dataclass comes back as a dict, a set as a list, a
UUID as text); `arguments.py` turns them into what the task's annotations say.  Without an
annotation a value stays as the codec gave it.  Pickle is never read or written.

MessagePack carries every value exactly, except that an aware datetime keeps its instant
and comes back in UTC.  JSON writes bytes as base64 text and keys as text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from types import NoneType
from typing import Any, Final, NoReturn, Protocol

import msgspec

from ..errors import CorruptRecord, InvalidOption, PayloadTooLarge, UnencodableValue
from .arguments import Arguments
from .bigint import BigInt, read_extension, wrap_big_ints
from .binding import (
    RESULT,
    Binding,
    EncryptingCodec,
    of_arguments,
    of_ticks,
)
from .protobuf import PROTOBUF

VERSION: Final = 1
MAX_PAYLOAD: Final = 1024 * 1024
_NATIVE: Final = (bytes, bytearray, memoryview, datetime)
# msgspec knows these everywhere but there, so the hook sees them only as keys.
_NEVER_JSON_KEYS: Final = (NoneType, bool, tuple, frozenset)
# UnencodableValue is a TypeError: where both are caught, its clause must come first.
_ENCODING_FAULTS: Final = (TypeError, ValueError, OverflowError, RecursionError)


class Codec(Protocol):
    """One way to write values; its name is kept with each job as the content type."""

    @property
    def name(self) -> str: ...

    @property
    def binary(self) -> bool:
        """Whether bytes come back as bytes; if not, they come back as base64 text."""

    def encode(self, value: Any) -> bytes: ...

    def decode(self, data: bytes) -> Any: ...


class Msgpack:
    """The default: compact, fast, and exact for bytes, nan and integers of any size."""

    name: Final = "msgpack"
    binary: Final = True

    def encode(self, value: Any) -> bytes:
        try:
            try:
                return _to_msgpack(value)
            except OverflowError:
                # Only now is it worth looking for the integers beyond 64 bits.
                plain = msgspec.to_builtins(value, builtin_types=_NATIVE, enc_hook=_reduce)
                return _to_msgpack(wrap_big_ints(plain))
        except UnencodableValue:
            raise
        except _ENCODING_FAULTS as error:
            _refuse(error)

    def decode(self, data: bytes) -> Any:
        try:
            return _from_msgpack(data)
        except (ValueError, RecursionError) as error:
            raise CorruptRecord(f"The record is not valid MessagePack: {error}.") from error


class Json:
    """For producers and consumers in other languages.

    msgspec writes nan and inf as `null`, which would lose them unseen.  So an output that
    has `null` in it (from a None, most often) is checked once more by the standard
    library, which refuses them; an output without `null` pays for one substring search.
    """

    name: Final = "json"
    binary: Final = False

    def encode(self, value: Any) -> bytes:
        try:
            data = _to_json(value)
            if b"null" in data:
                _refuse_non_finite(value)
            return data
        except UnencodableValue:
            raise
        except _ENCODING_FAULTS as error:
            _refuse(error)

    def decode(self, data: bytes) -> Any:
        try:
            return _from_json(data)
        except (ValueError, RecursionError) as error:
            raise CorruptRecord(f"The record is not valid JSON: {error}.") from error


class Codecs:
    """The codecs that a process can read, by name; `default` is the one it writes.

    msgpack, json and protobuf are always known: changing the default never strands old jobs. But
    with a default that encrypts only such codecs are, unless it has `accept_unencrypted`.
    """

    def __init__(
        self,
        default: Codec | None = None,
        *others: Codec,
        limit: int = MAX_PAYLOAD,
    ) -> None:
        self.default: Codec = default or MSGPACK
        self.limit = limit
        """the most bytes that one value may take"""
        self._known: dict[str, Codec] = {each.name: each for each in (MSGPACK, JSON, PROTOBUF)}
        for codec in (self.default, *others):
            if self._known.setdefault(codec.name, codec) is not codec:
                raise InvalidOption(f"Two codecs have the name {codec.name!r}; rename one.")
        self._refused = frozenset[str]()
        self.reads_encrypted = any(
            isinstance(each, EncryptingCodec) for each in self._known.values()
        )
        """whether some of the jobs that are there may be encrypted"""
        if isinstance(self.default, EncryptingCodec) and not self.default.accept_unencrypted:
            self._refuse_unencrypted(others)

    def _refuse_unencrypted(self, others: Sequence[Codec]) -> None:
        for codec in others:
            if not isinstance(codec, EncryptingCodec):
                raise InvalidOption(
                    f"The codec {codec.name!r} does not encrypt, and {self.default.name!r} does: "
                    "leave it out, or write by Encrypted(…, accept_unencrypted=True) for a while."
                )
        known: dict[str, Codec] = {name: each for name, each in self._known.items()
                 if isinstance(each, EncryptingCodec)}  # fmt: skip
        self._refused = frozenset(self._known.keys() - known.keys())
        self._known = known

    def get(self, name: str) -> Codec:
        try:
            return self._known[name]
        except KeyError:
            raise CorruptRecord(self._why_not(name)) from None

    def _why_not(self, name: str) -> str:
        if name in self._refused:
            return (
                f"The record has the content type {name!r}, which is not encrypted, and this "
                "process reads encrypted ones only, unless it is told accept_unencrypted=True."
            )
        return (
            f"The record has the content type {name!r}, which this process cannot read; it knows "
            f"{', '.join(sorted(self._known))}."
        )

    def refuses(self, name: str) -> bool:
        """Whether it could read this content type, and does not, for it is not encrypted."""
        return name in self._refused


def encode_call(
    codec: Codec, args: tuple[Any, ...], kwargs: dict[str, Any], id: str = "", task: str = ""
) -> bytes:
    """The arguments of a job; one that encrypts binds them to its id and its task."""
    try:
        if isinstance(codec, EncryptingCodec):
            return codec.encode((VERSION, args, kwargs), of_arguments(id, task))
        return codec.encode((VERSION, args, kwargs))
    except UnencodableValue as error:
        raise _name_argument(codec, args, kwargs, error) from error.__cause__


def decode_call(
    codec: Codec, data: bytes, id: str = "", task: str = ""
) -> tuple[list[Any], dict[str, Any]]:
    """The args and kwargs of a job; both containers are new and the caller's to change."""
    if codec is PROTOBUF:
        return [data], {}
    if isinstance(codec, EncryptingCodec):
        record = _decrypted(codec, data, id, task)
    else:
        record = codec.decode(data)
    if type(record) is not list or len(record) != 3 or record[0] != VERSION:
        _refuse_record(record, "arguments")
    _, args, kwargs = record
    if type(args) is not list or type(kwargs) is not dict:
        _refuse_record(record, "arguments")
    if kwargs and {*map(type, kwargs)} != {str}:
        _refuse_record(record, "arguments")
    return args, kwargs


def _decrypted(codec: EncryptingCodec, data: bytes, id: str, task: str) -> Any:
    try:
        return codec.decode(data, of_arguments(id, task))
    except CorruptRecord:
        binding = of_ticks(id, task)
        if binding is None:
            raise
    return codec.decode(data, binding)


def refuse_misfits(
    arguments: Arguments,
    codec: Codec,
    payload: bytes,
    before: int = 0,
    id: str = "",
    task: str = "",
) -> None:
    """Raise `InvalidArguments` for a call that a worker would refuse, after reading it as one.

    `before` is how many arguments will come first.
    """
    try:
        args, kwargs = decode_call(codec, payload, id, task)
    except Exception:
        if codec in (MSGPACK, JSON, PROTOBUF):
            raise
        # A codec of the app's own that can only write here, for want of a key for one.
        return
    arguments.refuse_misfits(args, kwargs, binary=codec.binary, before=before)


def encode_result(
    codec: Codec, value: Any, what: str = RESULT, id: str = "", task: str = "", name: str = ""
) -> bytes:
    """A value that belongs to a job: `what` it is to it, and its `name` if it has one."""
    try:
        if isinstance(codec, EncryptingCodec):
            return codec.encode((VERSION, value), _of_value(what, name, id, task))
        return codec.encode((VERSION, value))
    except UnencodableValue as error:
        raise UnencodableValue(f"the {what}: {error}") from error.__cause__


def too_large(what: str, data: bytes, limit: int) -> PayloadTooLarge:
    return PayloadTooLarge(
        f"{what} take {len(data):,} bytes, the limit is {limit:,}; store the data elsewhere "
        "and pass a reference."
    )


def decode_result(
    codec: Codec, data: bytes, what: str = RESULT, id: str = "", task: str = "", name: str = ""
) -> Any:
    """What `encode_result` was given for this job."""
    if codec is PROTOBUF:
        return data
    if isinstance(codec, EncryptingCodec):
        record = codec.decode(data, _of_value(what, name, id, task))
    else:
        record = codec.decode(data)
    if type(record) is not list or len(record) != 2 or record[0] != VERSION:
        _refuse_record(record, what)
    return record[1]


def _of_value(what: str, name: str, id: str, task: str) -> Binding:
    return Binding(f"{what} {name}" if name else what, id, task)


def in_order(value: Any) -> Any:
    """A value in plain builtins; dicts and sets, which have no order, in one that is fixed."""
    try:
        return msgspec.to_builtins(
            value, builtin_types=_NATIVE, enc_hook=_reduce, order="deterministic"
        )
    except _ENCODING_FAULTS as error:
        _refuse(error)


def _refuse_record(record: Any, what: str) -> NoReturn:
    if type(record) is list and record and type(record[0]) is int and record[0] != VERSION:
        raise CorruptRecord(
            f"The {what} record has version {record[0]}, and this release reads version "
            f"{VERSION}; upgrade Windlass here."
        )
    raise CorruptRecord(f"The {what} record does not have the shape of one.")


def _name_argument(
    codec: Codec, args: tuple[Any, ...], kwargs: dict[str, Any], error: UnencodableValue
) -> UnencodableValue:
    for label, value in _labelled(args, kwargs):
        try:
            codec.encode(value)
        except UnencodableValue as own:
            return UnencodableValue(f"{label}: {own}")
    return error


def _labelled(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for position, value in enumerate(args, start=1):
        yield f"positional argument {position}", value
    for name, value in kwargs.items():
        yield f"argument {name!r}", value


def _refuse(error: Exception) -> NoReturn:
    match error:
        case UnicodeEncodeError():
            text = "text with a lone surrogate is not valid UTF-8; pass it as bytes"
        case RecursionError():
            text = "the value contains itself or is nested too deeply to be encoded"
        case _:
            text = f"the value cannot be encoded: {error}"
    raise UnencodableValue(f"{text}.") from error


def _refuse_non_finite(value: Any) -> None:
    plain = msgspec.to_builtins(value, str_keys=True, enc_hook=_reduce)
    try:
        _strict_json(plain)
    except ValueError as error:
        raise UnencodableValue(
            "JSON has no nan or inf; pass None instead, or use the msgpack codec."
        ) from error


# Subclasses that msgspec does not take for their base: SafeString, numpy.float64, a frozen
# datetime in a test.  A datetime is a date too, so it comes first.
_BASES: Final[dict[type, Any]] = {
    str: str.__str__,
    int: int.__int__,
    float: float.__float__,
    bytes: bytes.__bytes__,
    datetime: lambda value: datetime.combine(value.date(), value.timetz()),
    date: lambda value: date(value.year, value.month, value.day),
}


def _reduce(value: Any) -> Any:
    """A value that msgspec does not know, as one that it does."""
    if type(value) is BigInt:
        return value.extension
    if hasattr(value, "model_dump") and not isinstance(value, type):
        return value.model_dump(mode="json")
    if isinstance(value, _NEVER_JSON_KEYS):
        raise UnencodableValue(
            f"JSON cannot have a `{type(value).__name__}` as the key of a dict; use text, "
            "or the msgpack codec."
        )
    for base, plain in _BASES.items():
        if isinstance(value, base):
            return plain(value)
    kind = type(value)
    name = (
        kind.__qualname__
        if kind.__module__ == "builtins"
        else f"{kind.__module__}.{kind.__qualname__}"
    )
    raise UnencodableValue(
        f"a value of type `{name}` cannot be encoded; pass plain data instead, "
        "such as an id to look it up by."
    )


_to_msgpack: Final = msgspec.msgpack.Encoder(enc_hook=_reduce).encode
_from_msgpack: Final = msgspec.msgpack.Decoder(ext_hook=read_extension).decode
_to_json: Final = msgspec.json.Encoder(enc_hook=_reduce).encode
_from_json: Final = msgspec.json.Decoder().decode
_strict_json: Final = json.JSONEncoder(allow_nan=False, check_circular=False).encode

MSGPACK: Final = Msgpack()
JSON: Final = Json()
