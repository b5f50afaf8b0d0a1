"""What running jobs write while nothing happens but time: a minute of beats of 1,000 jobs.

Counted are the bytes of WAL, and which updates touched no index. Against another state of the
source: `WINDLASS_BEFORE=FOLDER python -m benchmarks postgres_beats`.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from windlass.core.model import NewJob, Spec
from windlass.stores.open import open_store

from .postgres_server import clear, row, serving, tell
from .table import Goal, Line

BEFORE: Final = os.environ.get("WINDLASS_BEFORE", "")
ROOT: Final = Path(__file__).parent.parent
JOBS: Final = 1_000
LEASE: Final = 30_000
BEAT: Final = 2_000
MINUTE: Final = 60_000

FIGURES: Final = """
SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn,
       (SELECT n_tup_upd FROM pg_stat_user_tables WHERE relname = 'windlass_jobs'),
       (SELECT n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'windlass_jobs')
"""


class Figures(NamedTuple):
    wal: int
    updates: int
    hot: int


def lines() -> Iterator[Line]:
    with serving("autovacuum=off") as url:
        now = measure(url, ROOT)
        yield Line(
            "postgres: WAL of 1,000 running jobs, for a minute",
            now.wal / 1e6,
            "MB",
            f"{now.updates:,} updates, {now.hot:,} of them touch no index",
        )
        if BEFORE:
            before = measure(url, Path(BEFORE))
            yield Line(
                "postgres: WAL of running jobs, against before",
                now.wal / before.wal,
                "×",
                f"before {before.wal / 1e6:.1f} MB, {before.updates:,} updates, {before.hot:,} "
                "of them touch no index",
                Goal("at most", 0.1),
            )


def measure(url: str, tree: Path) -> Figures:
    """A minute of beats by the code of a tree, on a clock that is set forward."""
    clear(url)
    environ = os.environ | {"PYTHONPATH": f"{tree / 'src'}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-m", __name__, url]
    with subprocess.Popen(
        command, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "running\n"
        # What was inserted is then on disk, and each page is written whole once, as it would be
        # every few minutes.
        tell(url, "CHECKPOINT")
        start = Figures(*(int(value or 0) for value in row(url, FIGURES)))
        process.communicate("beat\n")
    end = Figures(*(int(value or 0) for value in row(url, FIGURES)))
    return Figures(*(b - a for a, b in zip(start, end, strict=True)))


async def beat(url: str) -> None:
    now = [1_000_000]
    store = open_store(url, clock=lambda: now[0])
    await store.open()
    spec = Spec("work", b"x" * 1_000)
    await store.insert([NewJob(f"job-{n}", spec) for n in range(JOBS)])
    leases = [job.lease for job in await store.claim({"default": JOBS}, JOBS, LEASE, "worker")]
    while len(leases) < JOBS:
        more = await store.claim({"default": JOBS}, JOBS, LEASE, "worker")
        leases += [job.lease for job in more]
    # A session tells the statistics what it did when it does something a second later.
    await asyncio.sleep(1.5)
    await store.ping()
    print("running", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    for _ in range(MINUTE // BEAT):
        now[0] += BEAT
        assert len(await store.renew(leases, LEASE)) == JOBS
    await store.close()


if __name__ == "__main__":
    asyncio.run(beat(sys.argv[1]))
