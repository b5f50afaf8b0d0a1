"""How a process of a chaos run is told what it has to do."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Final

import msgspec

from ...stores.contract import Store
from .plan import Part

VARIABLE: Final = "WINDLASS_CHAOS"
"""Not an argument: the URL may have a password, and arguments are for all to see."""


def told() -> Part:
    return msgspec.json.decode(os.environ[VARIABLE], type=Part)


def seen_by(part: Part, store: Store) -> Store:
    """The store as this process is to see it."""
    if not part.wrap:
        return store
    module, _, name = part.wrap.partition(":")
    wrapped: Store = getattr(import_module(module), name)(store)
    return wrapped


def environment(part: Part) -> dict[str, str]:
    return {**os.environ, VARIABLE: msgspec.json.encode(part).decode()}
