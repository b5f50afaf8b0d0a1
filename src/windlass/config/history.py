"""The settings of history."""

from __future__ import annotations

import math

import msgspec

from ..errors import ConfigError


class HistorySettings(msgspec.Struct, frozen=True, kw_only=True):
    """Where finished jobs are kept for search, and how many of them. Times are in seconds."""

    url: str = ""
    """the database, as in sqlite:///history.db; none keeps no history"""
    keep: float = 0.0
    """how long jobs are kept; 0 is for ever"""
    most: int = 0
    """the most jobs that are kept; 0 is any number"""
    interval: float = 1.0
    """how often what has ended is written there"""

    @property
    def is_bounded(self) -> bool:
        """Whether some jobs are to be dropped some day."""
        return self.keep > 0 or self.most > 0

    def __post_init__(self) -> None:
        if not 0 < self.interval < math.inf:
            raise ConfigError("interval of history must be a number of seconds above 0.")
        if not 0 <= self.keep < math.inf:
            raise ConfigError("keep of history must be a number of seconds, or 0 for ever.")
        if self.most < 0:
            raise ConfigError("most of history must be a number of jobs, or 0 for any.")
