"""How long a job waits on MySQL for an idle worker of another process.

MySQL wakes nobody: a worker asks, the less often the longer it has had nothing to do. So there are
two figures: for jobs that come close together, and for jobs that come after a rest.
"""

from __future__ import annotations

from collections.abc import Iterator

from windlass.stores.mysql.watch import LONGEST_NAP

from .latency import measure, shown
from .mysql_server import clear, serving
from .table import Goal, Line

RESTED = 40
REST = (0.8, 1.2)
"""Seconds: naps have grown to the longest by then."""


def lines() -> Iterator[Line]:
    with serving() as url:
        yield from shown("mysql: idle latency", measure(clear(url)))
        waits = measure(clear(url), RESTED, REST)
        # A nap, and as much again for a busy machine.
        goal = Goal("at most", 2 * LONGEST_NAP * 1000)
        yield from shown("mysql: idle latency after a rest", waits, goal)
