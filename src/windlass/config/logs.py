"""What settings can say of logs."""

from __future__ import annotations

from typing import Literal, TypeAlias

Level: TypeAlias = Literal["debug", "info", "warning", "error"]

LogFormat: TypeAlias = Literal["auto", "pretty", "plain", "json"]
"""`auto` is pretty on a terminal and plain elsewhere."""

Capture: TypeAlias = Literal["off", "debug", "info", "warning", "error"]
"""The least that is kept of what a handler logs."""
