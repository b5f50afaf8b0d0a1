"""What jobs can ask for on a connection of the user's, as on the store's own."""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import pytest

from windlass.core.lane import Lane
from windlass.core.model import NewJob, Receipt, Spec
from windlass.core.states import State
from windlass.stores.contract import Store
from windlass.stores.guest.insert import insert_on
from windlass.stores.open import open_store
from windlass.testing.jobs import claim, claim_one, counts, ids, job_of, new_job, put, state_of

T = TypeVar("T")

WINDOW = Spec("work", b"", unique_for=60_000)
SECOND = Spec("work", b"second")


class Program:
    """A user's program: its connection, and a look at the store from elsewhere."""

    def __init__(self, path: Path) -> None:
        self.url = f"sqlite:///{path}"
        self.ask(lambda store: store.ping())
        self.connection = sqlite3.connect(path, isolation_level=None)

    def ask(self, step: Callable[[Store], Awaitable[T]]) -> T:
        async def run() -> T:
            store = open_store(self.url)
            await store.open()
            try:
                return await step(store)
            finally:
                await store.close()

        return asyncio.run(run())

    def insert(self, *jobs: NewJob) -> Sequence[Receipt]:
        return insert_on(self.connection, open_store(self.url), jobs, "enqueue", "aenqueue")


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    program = Program(tmp_path / "windlass.db")
    yield program
    program.connection.close()


def test_a_window_begins_with_the_commit(program: Program) -> None:
    taken = Receipt("a", duplicate=True)
    program.connection.execute("BEGIN")
    first, second = program.insert(
        new_job("a", WINDOW, unique="k"), new_job("b", WINDOW, unique="k")
    )
    assert (first, second) == (Receipt("a"), taken)
    program.connection.execute("ROLLBACK")
    program.connection.execute("BEGIN")
    assert program.insert(new_job("a", WINDOW, unique="k")) == [Receipt("a")]
    program.connection.execute("COMMIT")
    assert program.ask(lambda store: store.insert([new_job("b", unique="k")])) == [taken]


def test_a_job_that_waits_is_replaced_if_the_transaction_commits(program: Program) -> None:
    program.ask(lambda store: put(store, "a", unique="k"))
    for end, spec in (("ROLLBACK", Spec("work", b"")), ("COMMIT", SECOND)):
        program.connection.execute("BEGIN")
        [receipt] = program.insert(new_job("b", SECOND, unique="k", conflict="replace"))
        assert receipt == Receipt("a", duplicate=True)
        program.connection.execute(end)
        assert program.ask(lambda store: job_of(store, "a")).spec == spec


def test_the_last_waits_behind_one_that_runs(program: Program) -> None:
    program.ask(lambda store: put(store, "a", unique="k"))
    program.ask(claim_one)
    program.connection.execute("BEGIN")
    assert program.insert(new_job("b", unique="k", conflict="last")) == [Receipt("b")]
    program.connection.execute("COMMIT")
    assert program.ask(lambda store: state_of(store, "b")) is State.BLOCKED
    assert program.ask(lambda store: job_of(store, "a")).unique is None


def test_jobs_enter_their_lane_with_the_commit(program: Program) -> None:
    spec = Spec("work", b"", lane=Lane("l", slots=1))
    for end, states in (
        ("ROLLBACK", {}),
        ("COMMIT", {State.PENDING: 1, State.BLOCKED: 1}),
    ):
        program.connection.execute("BEGIN")
        assert program.insert(new_job("a", spec), new_job("b", spec)) == [
            Receipt("a"),
            Receipt("b"),
        ]
        program.connection.execute(end)
        assert program.ask(counts) == states
    assert program.ask(claim_one).id == "a"
    assert program.ask(claim) == []


def test_groups_take_turns_with_those_of_the_store(program: Program) -> None:
    program.ask(lambda store: put(store, "a1", "a2", spec=Spec("work", b"", group="a")))
    program.connection.execute("BEGIN")
    program.insert(*(new_job(id, Spec("work", b"", group="b")) for id in ("b1", "b2")))
    program.connection.execute("COMMIT")
    assert ids(program.ask(claim)) == ["a1", "b1", "a2", "b2"]


def test_a_guest_writes_before_it_reads(program: Program) -> None:
    """Else another's commit after the first read would make its first write fail."""
    special = Spec("work", b"", lane=Lane("l", slots=1), group="g")
    jobs = [
        new_job("lane", special),
        new_job("key", WINDOW, unique="k"),
        new_job("last", unique="k", conflict="last"),
    ]
    for job in jobs:
        program.connection.execute("BEGIN")
        statements: list[str] = []
        program.connection.set_trace_callback(statements.append)
        program.insert(job)
        program.connection.set_trace_callback(None)
        program.connection.execute("COMMIT")
        told = [text for text in statements if not text.startswith("PRAGMA")]
        assert told[0].startswith("UPDATE"), job.id
