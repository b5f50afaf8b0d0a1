"""One annotated type: how it is found from what was written, and built from a decoded value.

An annotation that cannot be resolved, or that holds a type which neither msgspec nor a
`model_validate` or `FromString` can build (a protocol, a union of two dataclasses, an Enum that
mixes text and numbers), has no converter: the function then gets what the codec gave.
"""

from __future__ import annotations

from datetime import datetime
from inspect import Parameter
from types import NoneType, SimpleNamespace
from typing import Any, Final, TypeVar, get_type_hints

import msgspec

Scope = dict[str, Any]
"""The global names that the annotations of a function refer to."""

MISFITS: Final = (msgspec.ValidationError, OverflowError, TypeError)
"""What a converter raises when the value is not of its type: a TypeError for one that cannot be in
a set, or be a key."""

# A value that is exactly of one of these types needs no conversion to it.
_EXACT: Final = frozenset((int, str, float, bool, bytes, list, dict, datetime, NoneType))
_BYTES: Final = (bytes, bytearray)


class Converter:
    """Builds one annotated type from what a codec gives."""

    __slots__ = ("exact", "kind", "name")

    def __init__(self, name: str, kind: Any) -> None:
        self.name = name
        self.kind = kind
        self.exact = kind if isinstance(kind, type) and kind in _EXACT else None

    def __call__(self, value: Any, binary: bool) -> Any:
        try:
            return msgspec.convert(
                value,
                self.kind,
                builtin_types=_BYTES if binary else None,
                # JSON has no other keys than text; native keys are still taken as they are.
                str_keys=True,
                dec_hook=_build,
            )
        except _UnknownType:
            return value


class _UnknownType(Exception):
    """Not a TypeError or ValueError, which msgspec would take for a wrong value."""


def _build(kind: Any, value: Any) -> Any:
    """A type that msgspec does not know, from its decoded form."""
    validate = getattr(kind, "model_validate", None)
    if validate is not None:
        return validate(value)
    if isinstance(value, bytes) and hasattr(kind, "FromString"):
        return _message(kind, value)
    raise _UnknownType


def _message(kind: Any, data: bytes) -> Any:
    """A protobuf message."""
    try:
        return kind.FromString(data)
    except Exception as error:
        # Protobuf's own DecodeError is no ValueError, and protobuf need not be installed.
        raise ValueError(f"the bytes are no {kind.__name__}: {error}") from error


def converter_for(name: str, annotation: Any, scope: Scope) -> Converter | None:
    if annotation is Parameter.empty:
        return None
    try:
        kind = hint(annotation, scope)
        msgspec.msgpack.Decoder(kind, dec_hook=_build)
    except Exception:
        # Resolving runs code of the user's module, which can fail in any way; so can the
        # fields of a dataclass that are imported for the type checker alone.
        return None
    if kind is Any or kind is object or isinstance(kind, TypeVar):
        return None
    return Converter(name, kind)


def hint(annotation: Any, scope: Scope) -> Any:
    """The annotation with the names in it looked up, each on its own: one may be missing."""
    holder = SimpleNamespace(__annotations__={"it": annotation})
    return get_type_hints(holder, scope, include_extras=True)["it"]
