"""What numbers of a settings class must be, by the names of its fields."""

from __future__ import annotations

import math
from typing import Any, Final, get_args

import msgspec

from ..errors import ConfigError

LAST_PORT: Final = 65_535


def check_above_zero(settings: msgspec.Struct, *names: str) -> None:
    for name in names:
        # Written so that nan is refused too.
        if not getattr(settings, name) > 0:
            raise ConfigError(f"{name} must be above 0.")


def check_not_negative(settings: msgspec.Struct, *names: str) -> None:
    for name in names:
        if not getattr(settings, name) >= 0:
            raise ConfigError(f"{name} must be 0 or more.")


def check_finite(settings: msgspec.Struct, *names: str) -> None:
    for name in names:
        if math.isinf(getattr(settings, name)):
            raise ConfigError(f"{name} must have an end; give a large number instead.")


def check_choices(settings: msgspec.Struct, **choices: Any) -> None:
    """Each of these fields has one of the words of its type."""
    for name, kind in choices.items():
        if getattr(settings, name) not in get_args(kind):
            raise ConfigError(f"{name} must be one of {', '.join(get_args(kind))}.")


def check_port(settings: msgspec.Struct, *names: str) -> None:
    for name in names:
        if not 0 <= getattr(settings, name) <= LAST_PORT:
            raise ConfigError(f"{name} must be from 0 to {LAST_PORT:,}.")
