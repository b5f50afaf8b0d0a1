"""How a process of a chaos run is told what it has to do."""

from __future__ import annotations

import os
from typing import Final

import msgspec

from .plan import Part

VARIABLE: Final = "WINDLASS_CHAOS"
"""Not an argument: the URL may have a password, and arguments are for all to see."""


def told() -> Part:
    return msgspec.json.decode(os.environ[VARIABLE], type=Part)


def environment(part: Part) -> dict[str, str]:
    return {**os.environ, VARIABLE: msgspec.json.encode(part).decode()}
