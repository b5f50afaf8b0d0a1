"""The parameters of a task as data, for whoever makes a form of them. Pure."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from inspect import Parameter
from typing import Any, Final, NamedTuple

import msgspec

from .convert import Scope, hint
from .signature import source_of

KINDS: Final[Mapping[Any, str]] = {
    Parameter.POSITIONAL_ONLY: "positional",
    Parameter.POSITIONAL_OR_KEYWORD: "either",
    Parameter.VAR_POSITIONAL: "rest",
    Parameter.KEYWORD_ONLY: "named",
    Parameter.VAR_KEYWORD: "others",
}


class Described(NamedTuple):
    """One parameter. `annotation` is as it was written; no schema if none can be made of it."""

    name: str
    kind: str
    annotation: str | None
    schema: Mapping[str, Any] | None
    required: bool
    default: Any = None


def described(parameters: Sequence[Parameter], scope: Scope) -> Sequence[Described]:
    return [_described(parameter, scope) for parameter in parameters]


def _described(parameter: Parameter, scope: Scope) -> Described:
    has_default = parameter.default is not Parameter.empty
    is_one = parameter.kind not in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
    return Described(
        parameter.name,
        KINDS[parameter.kind],
        _annotation(parameter.annotation),
        _schema(parameter.annotation, scope),
        is_one and not has_default,
        parameter.default if has_default else None,
    )


def _annotation(annotation: Any) -> str | None:
    if annotation is Parameter.empty:
        return None
    return source_of(annotation) or inspect.formatannotation(annotation)


def _schema(annotation: Any, scope: Scope) -> Mapping[str, Any] | None:
    if annotation is Parameter.empty:
        return None
    try:
        kind = hint(annotation, scope)
        if hasattr(kind, "model_json_schema"):
            made: Mapping[str, Any] = kind.model_json_schema()
            return made
        return msgspec.json.schema(kind)
    except Exception:
        # Resolving runs code of the user's module, which can fail in any way.
        return None
