"""Run all benchmarks, or those that are named."""

from __future__ import annotations

import sys
from importlib import import_module

from tests.servers.binaries import MissingServer

from .table import Line, show

NAMES = (
    "enqueue",
    "validate",
    "drain",
    "dependents",
    "threads",
    "processes",
    "startup",
    "latency",
    "shutdown",
    "recovery",
    "depth",
    "footprint",
    "leaks",
    "redis_floor",
    "redis_enqueue",
    "redis_drain",
    "redis_memory",
    "redis_latency",
    "redis_depth",
    "redis_wire",
    "redis_layouts",
    "redis_dependents",
    "redis_limits",
    "postgres_floor",
    "postgres_enqueue",
    "postgres_drain",
    "postgres_latency",
    "postgres_commit_wake",
    "postgres_depth",
    "postgres_vacuum",
    "postgres_beats",
    "mysql_floor",
    "mysql_enqueue",
    "mysql_drain",
    "mysql_latency",
    "mysql_depth",
    "held_snapshot",
    "producers",
    "server",
    "server_protocols",
    "server_grpc",
    "server_idle",
    "observe",
    "logs",
    "tracing",
    "dashboard",
)


def main(names: list[str]) -> None:
    unknown = set(names) - set(NAMES)
    if unknown:
        sys.exit(f"There is no benchmark {sorted(unknown)[0]}; known are {', '.join(NAMES)}.")
    found: list[Line] = []
    for name in names or NAMES:
        print(f"Measuring {name} …", file=sys.stderr)
        try:
            found += import_module(f"{__package__}.{name}").lines()
        except MissingServer as missing:
            print(f"Going on without {name}: {missing}", file=sys.stderr)
    if found:
        show(found)


if __name__ == "__main__":
    main(sys.argv[1:])
