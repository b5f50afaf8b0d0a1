"""Thousands of stops on each store and each Python: a part of `make soak`."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console
from rich.table import Table

from tests.chaos import pythons
from tests.servers import mariadb, postgres, redis
from tests.servers.server import Server

LONGEST = 0.5
"""Seconds that one stop may take, at the most, on average."""


@contextmanager
def sqlite() -> Iterator[str]:
    with TemporaryDirectory(prefix="windlass-stops-") as folder:
        yield f"sqlite:///{folder}/jobs.db"


@contextmanager
def served(serve: Callable[[], AbstractContextManager[Server]]) -> Iterator[str]:
    with serve() as server:
        yield server.url


PLACES: Mapping[str, Callable[[], AbstractContextManager[str]]] = {
    "sqlite": sqlite,
    "redis": partial(served, redis.serve),
    "postgres": partial(served, postgres.serve),
    "mariadb": partial(served, mariadb.serve),
}


def soak(stops: int, stores: Sequence[str], versions: Sequence[str], console: Console) -> bool:
    """Whether anything was left behind."""
    table = Table(title=f"{stops:,} stops of blocking handlers")
    for column in ("Python", "store", "stops", "handlers", "left", "seconds", "found"):
        table.add_column(column, justify="left" if column in ("Python", "store") else "right")
    broken = False
    with TemporaryDirectory(prefix="windlass-pythons-") as folder:
        for version, program in pythons.found().items():
            if versions and version not in versions:
                continue
            if program is None:
                table.add_row(version, "", "", "", "", "", "no such Python on this machine")
                continue
            python = pythons.equipped(program, Path(folder, version))
            for store in stores:
                console.print(f"Stopping handlers on {store} with Python {version} …")
                with PLACES[store]() as url:
                    found = _stopped(python, url, stops)
                problems = found["problems"]
                broken = broken or bool(problems)
                figures = [f"{found[name]:,}" for name in ("stops", "begun", "left", "seconds")]
                table.add_row(version, store, *figures, "\n".join(problems) or "nothing")
    console.print(table)
    return broken


def _stopped(python: Path, url: str, stops: int) -> dict[str, Any]:
    """What the program has found; that it came to no end is a finding too."""
    nothing: dict[str, Any] = {"stops": 0, "begun": 0, "left": 0, "seconds": 0}
    command = [str(python), "-m", "tests.chaos.stops", url, str(stops)]
    limit = 60 + stops * LONGEST
    try:
        done = subprocess.run(
            command, cwd=pythons.ROOT, capture_output=True, text=True, timeout=limit
        )
        found: dict[str, Any] = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        return {**nothing, "problems": [f"it did not end within {limit:g} s"]}
    except json.JSONDecodeError:
        return {**nothing, "problems": [done.stderr.strip()[-500:]]}
    return found
