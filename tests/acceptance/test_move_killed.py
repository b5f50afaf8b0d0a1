"""A move that is killed between any two of its steps: the next one completes it."""

import signal
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from subprocess import PIPE

import pytest

from tests.acceptance.conftest import Fresh
from tests.acceptance.mover import at_once
from tests.servers.emptied import emptied_database, emptied_schema
from tests.servers.fork_server import start
from windlass.admin.holds import NOTES, Holds
from windlass.admin.move import move
from windlass.admin.turn import TERM
from windlass.core.clock import to_ms
from windlass.core.model import Transition
from windlass.core.states import State
from windlass.stores.contract import Store
from windlass.stores.open import open_store
from windlass.testing.clock import START
from windlass.testing.jobs import FLEETING, LEASE, bring, listing, put

PROGRAM = Path(__file__).with_name("mover.py")
QUEUES = ("mail", "held")
LIVE = ("a", "b", "c", "due", "held")
LATER = START + to_ms(TERM)
AT_LAST = LATER + 60_000
"""When all are due."""

Killed = Callable[[str, Sequence[str], int], bool]


async def fill(store: Store) -> None:
    await bring(store, "dead", State.DEAD, queue="mail", unique="key-of-the-dead")
    await put(store, "a", queue="mail")
    await put(store, "b", queue="mail", spec=FLEETING)
    await put(store, "c", queue="mail", unique="other-key", priority=70)
    await put(store, "due", queue="mail", delay=50_000, unique="key")
    await put(store, "held", queue="held")
    await store.pause("held")


async def run_all(store: Store, runs: Counter[str]) -> None:
    """Run whatever workers of this store would get."""
    while jobs := await store.claim(dict.fromkeys(QUEUES, 100), 100, LEASE, "worker"):
        runs.update(job.id for job in jobs)
        done = [Transition(job.id, job.fence, State.COMPLETED, queue=job.queue) for job in jobs]
        assert await store.finish(done) == {job.id for job in jobs}


async def opened(stack: AsyncExitStack, url: str, clock: Callable[[], int]) -> Store:
    store = open_store(url, clock=clock)
    await store.open()
    stack.push_async_callback(store.close)
    return store


async def held(store: Store) -> set[str]:
    return {queue.name for queue in await store.queues() if queue.paused}


@pytest.fixture
def emptied(fresh: Fresh, request: pytest.FixtureRequest) -> Fresh:
    """As `fresh`, on tables that are used again: a move that dies between calls writes no more."""

    def emptied(kind: str) -> str:
        if kind == "postgres_server":
            return emptied_schema(request.getfixturevalue(kind).url, "killed")
        if kind == "mariadb_server":
            return emptied_database(request.getfixturevalue(kind).url, "killed")
        return fresh(kind)

    return emptied


@pytest.fixture
def killed(tmp_path: Path) -> Iterator[Killed]:
    """Move, to be killed at a step; whether there was such a step."""
    with (
        (tmp_path / "log").open("w+") as log,
        start(
            ["-P", PROGRAM, "moves", str(START)],
            stdin=PIPE,
            stdout=PIPE,
            stderr=log,
            text=True,
        ) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        ask, answer = process.stdin, process.stdout

        def killed(command: str, urls: Sequence[str], number: int) -> bool:
            ask.write(f"{command} {' '.join(urls)} {number}\n")
            ask.flush()
            code = int(answer.readline())
            assert code in (0, -signal.SIGKILL), (tmp_path / "log").read_text()
            return code != 0

        yield killed


async def is_completed_by_the_next(
    killed: Killed, command: str, urls: Sequence[str], number: int
) -> bool:
    """Whether there was such a step; if there was, the next move and workers do the rest."""
    runs: Counter[str] = Counter()
    async with AsyncExitStack() as stack:
        await fill(await opened(stack, urls[0], lambda: START))
    if not killed(command, urls, number):
        return False
    now = LATER
    async with AsyncExitStack() as stack:
        source, target = [await opened(stack, url, lambda: now) for url in urls]
        await run_all(source, runs)
        await run_all(target, runs)
        report = await move(source, target, nap=at_once)
        assert (report.left, dict(report.missing)) == ([], {})
        assert [job.id for job in await listing(source) if job.queue != NOTES] == []
        assert await held(target) == {"held"}
        assert await Holds(target).look() == frozenset()
        await target.resume("held")
        now = AT_LAST
        await run_all(target, runs)
        await run_all(source, runs)
        assert runs == dict.fromkeys(LIVE, 1)
        states = {job.id: job.state for job in await listing(target)}
        kept = [id for id in LIVE if id != "b"]
        assert states == dict.fromkeys(kept, State.COMPLETED) | {"dead": State.DEAD}
        # Nothing is taken by one who is gone.
        await put(target, "next", unique="key", queue="held")
        await put(target, "after", unique="other-key", queue="mail")
    return True


async def steps_survived(killed: Killed, command: str, make: Callable[[], Sequence[str]]) -> int:
    number = 1
    while await is_completed_by_the_next(killed, command, make(), number):
        number += 1
    return number - 1


# As a target, a Cluster stands for any Redis: between two calls they are the same.
PAIRS = (
    ("redis_server", "sqlite"),
    ("redis_server", "redis_cluster"),
    ("sqlite", "postgres_server"),
    ("postgres_server", "mariadb_server"),
)


@pytest.mark.timeout(600)
@pytest.mark.parametrize(("source", "target"), PAIRS)
async def test_killed_before_any_call(
    source: str, target: str, emptied: Fresh, killed: Killed
) -> None:
    assert await steps_survived(killed, "move", lambda: (emptied(source), emptied(target))) > 25


@pytest.mark.timeout(600)
async def test_killed_in_the_middle_of_a_step_that_spans_shards(
    fresh: Fresh, killed: Killed
) -> None:
    def make() -> Sequence[str]:
        return fresh("sqlite"), fresh("redis_cluster")

    assert await steps_survived(killed, "split", make) > 8
