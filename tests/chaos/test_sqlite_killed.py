"""A process that is killed in the middle of a transaction, with SQLite."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from windlass.core.model import NewJob, Spec
from windlass.core.states import State
from windlass.stores.open import open_store
from windlass.testing.work import counts

pytestmark = pytest.mark.anyio

HALF_DONE = """
import sqlite3, sys, time
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
# So little that what it changes is on the disk before the commit.
connection.execute("PRAGMA cache_size = 1")
connection.execute("BEGIN IMMEDIATE")
connection.execute("UPDATE windlass_jobs SET state = 'active', fence = 99, worker = 'dead'")
connection.execute("DELETE FROM windlass_counts")
print("half done", flush=True)
time.sleep(600)
"""


async def test_nothing_is_left_of_a_transaction_whose_process_was_killed(tmp_path: Path) -> None:
    path = tmp_path / "jobs.db"
    store = open_store(f"sqlite:///{path}")
    await store.open()
    await store.insert([NewJob(f"{n}", Spec("task", b"x" * 200)) for n in range(2_000)])
    with subprocess.Popen(
        [sys.executable, "-c", HALF_DONE, str(path)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "half done\n"
        process.send_signal(signal.SIGKILL)
    assert await counts(store) == {State.PENDING: 2_000}
    # The lock died with it: writing goes on at once, with what was there before.
    claimed = await store.claim({"default": 10}, 10, 30_000, "me")
    assert [job.id for job in claimed] == [str(n) for n in range(10)]
    await store.insert([NewJob("new", Spec("task", b""))])
    assert await counts(store) == {State.PENDING: 1_991, State.ACTIVE: 10}
    await store.close()
