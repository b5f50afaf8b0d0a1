"""Jobs that depend on others against plain ones, and what plain ones pay for all that is possible.

The second is a comparison with another state of the source, which `WINDLASS_BEFORE` names: the
folder of a checkout. Both run in turns.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from windlass import Windlass

from .drain import drain_from, fill
from .process import isolated
from .table import Goal, Line, ratio

ROOT = Path(__file__).parents[1]
BEFORE = os.environ.get("WINDLASS_BEFORE", "")

WIDTH = 10_000
PLAIN = 20_000
ROUNDS = 9


def lines() -> Iterator[Line]:
    yield ratio(
        f"fan-out and fan-in of {WIDTH:,}",
        fan_out_and_in,
        plain_drain,
        ("with dependents", "plain"),
    )
    if BEFORE:
        yield ratio(
            "a plain job, by what it was before",
            lambda: plain(ROOT),
            lambda: plain(Path(BEFORE)),
            ("now", "before"),
            Goal("at least", 0.95),
            rounds=ROUNDS,
        )


def fan_out_and_in() -> float:
    """Jobs per second: one, then many that wait for it, then one that waits for all of these."""
    with TemporaryDirectory() as folder:
        isolated(fill_fan, folder)
        return isolated(drain_from, folder, WIDTH + 2)


def plain_drain() -> float:
    with TemporaryDirectory() as folder:
        isolated(fill, folder, WIDTH + 2)
        return isolated(drain_from, folder, WIDTH + 2)


def fill_fan(folder: str) -> None:
    app = Windlass(f"sqlite:///{folder}/bench.db")

    @app.task
    async def nothing(number: int) -> None: ...

    first = nothing.enqueue(0)
    middle = nothing.using(depends_on=[first])
    many = app.enqueue_many(middle.call(n) for n in range(WIDTH))
    nothing.using(depends_on=many).enqueue(WIDTH)
    app.close()


def plain(root: Path) -> float:
    """Jobs per second of the code below a folder."""
    path = os.pathsep.join([str(root / "src"), str(ROOT)])
    found = subprocess.run(
        [sys.executable, "-m", "benchmarks.plain", str(PLAIN)],
        env={**os.environ, "PYTHONPATH": path},
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    return float(found.stdout)
