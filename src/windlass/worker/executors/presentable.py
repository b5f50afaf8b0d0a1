"""Exceptions that can be handed on: what every exception knows, they tell."""

from __future__ import annotations

from typing import Final

TOLD: Final = ("__traceback__", "__cause__", "__context__", "__suppress_context__")
NAMES: Final = ("__name__", "__qualname__", "__module__")


class OddException(Exception):
    """In place of an exception of a class that hides or fakes what every exception has."""


def presentable(error: BaseException) -> BaseException:
    """The exception itself, or one in its place if to look at it fails.

    A class may answer for its attributes as it likes. Code that handles an exception looks at them
    where it expects no error, and what it was about to do would be left undone.
    """
    try:
        tells = _tells(error, type(error))
    except BaseException:  # whatever its own methods raise: it is not to be handed on
        tells = False
    return error if tells else _in_place_of(error)


def _tells(error: BaseException, kind: type[BaseException]) -> bool:
    for name in TOLD:
        getattr(error, name)
    names = [getattr(kind, name) for name in NAMES]
    is_itself = error.__class__ is kind and type(vars(error)) is dict
    return is_itself and all(type(name) is str for name in names)


def _in_place_of(error: BaseException) -> OddException:
    kind = type.__repr__(type(error))
    return OddException(f"an exception of {kind}, which does not tell what every exception tells")
