"""Whether a value surely fits a type, by the types in it alone: what a caller asks first.

Most arguments are numbers and texts, and for these it takes some ten nanoseconds. A `False` says no
more than that it is not sure: then the arguments are written and read back as a worker would.
"""

from __future__ import annotations

from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Mapping,
    MutableMapping,
    MutableSequence,
    Sequence,
)
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, Flag
from itertools import product
from math import prod
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin
from uuid import UUID

Fit = Callable[[Any], bool]

_NUMBERS: Final = frozenset((int, str, float, bool, bytes, NoneType, Decimal))
_MOMENTS: Final = frozenset((datetime, date, time, timedelta))
_PLAIN: Final = _NUMBERS | _MOMENTS | {UUID, list, dict}
"""A value that is exactly of one of these comes back as such from every codec."""

_ROWS: Final = frozenset((list, tuple))
_SETS: Final = frozenset((set, frozenset))
_LISTS: Final = frozenset((list, Sequence, MutableSequence, Collection))
_DICTS: Final = frozenset((dict, Mapping, MutableMapping))

_EXACT: Final = 2**53
"""Whole numbers up to this are floats too, without loss."""

_FEW: Final = 64
"""So many combinations of types are listed; of more, each value is looked at by itself."""


def anything(_: Any) -> bool:
    """Of no type, or of any."""
    return True


def unsure(_: Any) -> bool:
    """Of a type that only a conversion can tell: with bounds, with fields, with a validator."""
    return False


def fit_of(kind: Any) -> Fit:
    """Whether a value surely fits this type."""
    while hasattr(kind, "__supertype__"):  # a NewType
        kind = kind.__supertype__
    if kind is Any or kind is object:
        return anything
    if kind is float:
        return _is_number
    if (types := _types_of(kind)) is not None:
        return lambda value: type(value) in types
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Literal:
        return _literal(inner)
    if origin is Union or origin is UnionType:
        return _either(inner)
    if origin in _LISTS:
        return _row(inner[0])
    if origin in _SETS:
        return _row(inner[0], _SETS)
    if origin is tuple:
        return _row(inner[0]) if inner[1:] == (...,) else _record(inner)
    if origin in _DICTS and inner[0] in (str, Any):
        return _table(*inner)
    return _row(Any) if kind is tuple else unsure


def exact_of(kind: Any) -> type | None:
    """The type of which every value fits, if there is one: spares a call."""
    types = _types_of(kind)
    return next(iter(types)) if types is not None and len(types) == 1 else None


def _types_of(kind: Any) -> frozenset[type] | None:
    """The types of values that fit, if nothing else counts; of a union, those of its parts."""
    if kind is None:
        return frozenset((NoneType,))
    if isinstance(kind, type) and get_origin(kind) is None:
        is_member = issubclass(kind, Enum) and not issubclass(kind, Flag)
        return frozenset((kind,)) if kind in _PLAIN or is_member else None
    if get_origin(kind) not in (Union, UnionType):
        return None
    parts = [_types_of(part) for part in get_args(kind)]
    return None if None in parts else frozenset[type]().union(*parts)  # type: ignore[arg-type]


def _literal(values: Iterable[Any]) -> Fit:
    types, known = frozenset(map(type, values)), frozenset(values)
    return lambda value: type(value) in types and value in known


def _either(kinds: Iterable[Any]) -> Fit:
    fits = [fit_of(kind) for kind in kinds]
    return lambda value: any(fit(value) for fit in fits)


def _all(kind: Any) -> Callable[[Iterable[Any]], bool]:
    types, fit = _types_of(kind), fit_of(kind)
    if fit is anything:
        return anything
    if types is not None:
        return lambda values: types.issuperset(map(type, values))
    return lambda values: all(map(fit, values))


def _row(kind: Any, rows: frozenset[type] = _ROWS) -> Fit:
    if (types := _types_of(kind)) is not None:
        return lambda value: type(value) in rows and types.issuperset(map(type, value))
    fit = _all(kind)
    return lambda value: type(value) in rows and fit(value)


def _record(kinds: tuple[Any, ...]) -> Fit:
    parts = [kind for kind in kinds if kind != ()]
    types = [types for part in parts if (types := _types_of(part)) is not None]
    if len(types) == len(parts) and prod(map(len, types)) <= _FEW:
        known = frozenset(product(*types))
        return lambda value: type(value) in _ROWS and tuple(map(type, value)) in known
    fits = [fit_of(part) for part in parts]
    return lambda value: (
        type(value) in _ROWS
        and len(value) == len(fits)
        and all(fit(each) for fit, each in zip(fits, value, strict=True))
    )


def _plain_table(names: frozenset[type], types: frozenset[type]) -> Fit:
    def fits(value: Any) -> bool:
        if type(value) is not dict:
            return False
        for name, each in value.items():
            if type(name) not in names or type(each) not in types:
                return False
        return True

    return fits


def _is_number(value: Any) -> bool:
    kind = type(value)
    return kind is float or (kind is int and -_EXACT <= value <= _EXACT)


def _table(key: Any, kind: Any) -> Fit:
    names, types = _types_of(key), _types_of(kind)
    if names is not None and types is not None:
        return _plain_table(names, types)
    keys, values = _all(key), _all(kind)
    return lambda value: type(value) is dict and keys(value) and values(value.values())
