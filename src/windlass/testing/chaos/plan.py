"""How long a chaos run is to be, how many take part, and how badly they are treated."""

from __future__ import annotations

from typing import Final

import msgspec

QUEUES: Final = ("alpha", "beta")
LIMIT: Final = 2
"""How many limited jobs of a queue may be active at once."""

SCHEDULE: Final = "hand"
EVERY: Final = 1
"""Seconds between two ticks of the schedule."""


class ChaosPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What a run does. Times are in seconds."""

    seconds: float = 10.0
    """how long things go wrong"""
    jobs: int = 2_000
    """about so many are enqueued in that time"""
    kills_per_second: float = 0.5
    """SIGKILL, on average; the other faults come on top"""
    workers: int = 3
    supervised: bool = True
    """whether a supervisor with two processes works too, and is killed"""
    producers: int = 2
    server: bool = True
    """whether a server takes jobs as well, if its extras are there, and is killed"""
    lease: float = 2.0
    concurrency: int = 20
    skew: float = 3_600.0
    """how far the clocks of some workers are off"""
    patience: float = 90.0
    """all jobs must have ended so long after the last fault"""
    forgets: bool = False
    """whether what befalls the store makes it lose what it has acknowledged: fewer rules hold"""
    wrap: str = ""
    """a function, as module:name, through which all see the store: to break it, and be found out"""
    seed: int = 0
    """of what is done to whom; 0 is another one each time"""


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """What one process is told, as JSON in a variable of its environment."""

    url: str
    folder: str
    """where it keeps its notebook"""
    seed: int
    lease: float = 2.0
    concurrency: int = 20
    processes: int = 1
    """more than one have a supervisor"""
    lifetime: float = 0.0
    """about how long a supervised process lives before it kills itself; 0 is for ever"""
    wrap: str = ""
    trap: str = ""
    """where it kills itself: see `trap`"""
    skew: float = 0.0
    ticks: bool = True
    """whether a worker declares the schedule"""
    port: int = 0
    """of a server"""
    through: str = ""
    """of a producer: the URL of the server that it enqueues through"""
    rate: float = 0.0
    """of a producer: jobs for each second"""
