"""A producer that is killed while it stores many jobs in one step."""

import signal
from pathlib import Path

from tests.acceptance.process import Site, until
from tests.acceptance.process import site as open_site
from windlass.sync import drive

NUMBER = 30_000
UNDER_WAY = 1_000_000
"""Bytes in the write-ahead log: what does not fit into memory is there before the commit."""
TRIES = 6


def size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def stored(site: Site) -> int:
    """How many jobs there are, by their ids and by the counts alike."""
    found = drive(site.store.get([str(n) for n in range(NUMBER)]))
    assert sum(site.counts().values()) == len(found)
    return len(found)


def stored_of_a_batch_that_was_cut(folder: Path) -> int:
    """Kill a producer once its batch is half written; how many jobs there are then."""
    with open_site(folder) as site:
        log = folder / "jobs.db-wal"
        before = size(log)
        producer = site.start("batch", NUMBER)
        site.hear(producer, "ready")
        until(lambda: size(log) > before + UNDER_WAY or producer.poll() is not None, "a write")
        producer.send_signal(signal.SIGKILL)
        output, _ = producer.communicate()
        found = stored(site)
        assert found == NUMBER or "done" not in output
        site.jobs.note.using(id="after").enqueue()
        assert sum(site.counts().values()) == found + 1
        return found


def test_all_of_a_batch_or_none_of_it_is_there(tmp_path: Path) -> None:
    for n in range(TRIES):
        folder = tmp_path / str(n)
        folder.mkdir()
        found = stored_of_a_batch_that_was_cut(folder)
        assert found in (0, NUMBER)
        if found == 0:
            return
    raise AssertionError("no kill came before the commit, so this proved nothing")
