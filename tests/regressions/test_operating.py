"""Faults that show when a queue is operated: what nobody sees, and what nobody can leave."""

import asyncio
import sqlite3
import urllib.request
from contextlib import closing
from pathlib import Path
from urllib.error import HTTPError

import msgspec
import pytest

from tests.servers import redis
from tests.servers.ports import free_port
from windlass import State, Windlass
from windlass.admin.doctor import diagnose, examine
from windlass.config import WorkerSettings
from windlass.core.model import Spec
from windlass.stores.open import open_store
from windlass.testing.clock import FakeClock
from windlass.testing.jobs import claim_one, finish, put
from windlass.worker import worker as worker_module


async def test_an_audit_names_every_dependent_that_waits_for_nothing(
    tmp_path: Path, clock: FakeClock
) -> None:
    path = tmp_path / "jobs.db"
    store = open_store(f"sqlite:///{path}", clock=clock)
    await store.open()
    await put(store, "parent", "taken")
    for parent in ("parent", "taken"):
        await put(store, f"of {parent}", spec=Spec("t", b"", parents=(parent,)))
    await finish(store, await claim_one(store), State.DEAD)
    clock.advance(3600)
    assert not [each for each in diagnose(await examine(store, clock)) if each.kind == "dependent"]
    # What no step of ours does: the parent goes, and nobody is told.
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        raw.execute("DELETE FROM windlass_jobs WHERE id = 'taken'")
    [told] = [each for each in diagnose(await examine(store, clock)) if each.kind == "dependent"]
    assert told.is_fault
    assert "of taken" in told.text
    await store.close()


async def test_a_probe_asks_nobody_and_tells_when_the_store_is_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(worker_module, "LONGEST_SILENCE", 1.0)
    with redis.serve() as server:
        app, port = Windlass(server.url), free_port()
        worker = await app.worker(WorkerSettings(metrics_port=port))
        await worker.start()
        while await probe(port, "readyz") != 200:
            await asyncio.sleep(0.05)
        server.kill()
        while await probe(port, "readyz") == 200:
            await asyncio.sleep(0.05)
        assert (await probe(port, "readyz"), await probe(port, "livez")) == (503, 200)
        server.start()
        while await probe(port, "readyz") != 200:
            await asyncio.sleep(0.05)
        await worker.stop()
        await app.aclose()


async def probe(port: int, page: str) -> int:
    def ask() -> int:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/{page}", timeout=10) as answer:
                return int(answer.status)
        except HTTPError as error:
            error.close()
            return error.code

    return await asyncio.to_thread(ask)


async def test_what_is_stored_can_be_read_without_windlass(tmp_path: Path) -> None:
    """Whoever leaves takes the jobs along: they are plain MessagePack in plain columns."""
    path = tmp_path / "jobs.db"
    app = Windlass(f"sqlite:///{path}")

    @app.task(name="mail")
    async def mail(to: str, copies: int = 1) -> None: ...

    await mail.aenqueue("a@example.org", copies=3)
    await app.aclose()
    with closing(sqlite3.connect(path)) as raw:
        [(spec, state)] = raw.execute("SELECT spec, state FROM windlass_jobs")
    task, payload, *_ = msgspec.msgpack.decode(spec)
    assert (task, state) == ("mail", "pending")
    assert msgspec.msgpack.decode(payload) == [1, ["a@example.org"], {"copies": 3}]
