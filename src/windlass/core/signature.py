"""Reading a function: its name, its signature, and the names that its annotations refer to."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from functools import partial
from inspect import Parameter
from typing import Any, get_origin

from ..errors import InvalidOption
from .convert import Scope, hint


def signature_of(func: Callable[..., Any]) -> inspect.Signature:
    try:
        if sys.version_info >= (3, 14):
            import annotationlib

            lenient = annotationlib.Format.FORWARDREF
            return inspect.signature(func, annotation_format=lenient)
        return inspect.signature(func)
    except (TypeError, ValueError) as error:
        raise InvalidOption(f"{name_of(func)} cannot be a task: {error}.") from error


def _innermost(func: Any) -> Any:
    while True:
        if isinstance(func, partial):
            func = func.func
        elif hasattr(func, "__wrapped__"):
            func = func.__wrapped__
        else:
            return func


def name_of(func: Any) -> str:
    inner = _innermost(func)
    return getattr(inner, "__name__", None) or type(inner).__name__


def scope_of(func: Any) -> Scope:
    """The global names that the annotations of `func` refer to."""
    inner = _innermost(func)
    if not hasattr(inner, "__globals__"):
        inner = type(inner).__call__
    scope: Scope = getattr(inner, "__globals__", {})
    return scope


def is_marker(annotation: Any, marker: type, scope: Scope) -> bool:
    try:
        kind = hint(annotation, scope)
    except Exception:
        # The marker may be imported for the type checker alone; then its name has to do.
        written = source_of(annotation) or ""
        return written.partition("[")[0].rpartition(".")[2] == marker.__name__
    return kind is marker or get_origin(kind) is marker


def rendered(parameters: list[Parameter]) -> str:
    shown = []
    for parameter in parameters:
        written = source_of(parameter.annotation)
        shown.append(parameter.replace(annotation=_Source(written)) if written else parameter)
    return str(inspect.Signature(shown))


class _Source(str):
    """Text that is shown without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def source_of(annotation: Any) -> str | None:
    """The source of an annotation that is not evaluated yet."""
    text = getattr(annotation, "__forward_arg__", annotation)
    return text if isinstance(text, str) else None
