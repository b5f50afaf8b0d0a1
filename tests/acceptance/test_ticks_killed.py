"""Leaders that are killed at any moment: each tick still makes one job."""

import random
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from datetime import UTC, datetime

import pytest

from tests.acceptance.conftest import Fresh
from tests.acceptance.crew import Crew
from tests.acceptance.process import until
from tests.acceptance.ticking import make
from windlass.core.model import Job, JobQuery
from windlass.core.states import State

STORES = ("sqlite", "redis_server", "redis_cluster", "postgres_server", "mariadb_server")
KILLS = 6


@pytest.fixture
def urls(fresh: Fresh) -> list[str]:
    return [fresh(kind) for kind in STORES]


@pytest.fixture
def crews(urls: list[str]) -> Iterator[list[Crew]]:
    with ExitStack() as stack:
        yield [stack.enter_context(closing(Crew("ticking.py", url))) for url in urls]


def test_leaders_that_are_killed_leave_one_job_for_each_tick(
    urls: list[str], crews: list[Crew]
) -> None:
    """On all stores at the same time: ticks come once in a second, so most of it is waiting."""
    with ThreadPoolExecutor(len(urls)) as threads:
        found = list(threads.map(ticks_of_killed_leaders, urls, crews))
    whole = [list(range(moments[0], moments[0] + len(moments))) for moments in found]
    assert dict(zip(STORES, found, strict=True)) == dict(zip(STORES, whole, strict=True))


def ticks_of_killed_leaders(url: str, crew: Crew) -> list[int]:
    """The ticks that made a job, while one worker after the other was killed."""
    app = make(url)
    dice = random.Random(7)

    def jobs() -> list[Job]:
        query = JobQuery(limit=1_000)
        return list(app.client.block(lambda store: store.find(query), "x", "y").jobs)

    try:
        until(jobs, "the first tick")
        for number in range(KILLS):
            # At any moment between two ticks, and right at one.
            before = len(jobs())
            until(lambda before=before: len(jobs()) > before, "another tick")  # type: ignore[misc]
            time.sleep(dice.choice([0, 0.2, 0.5, 0.9]))
            crew.kill(number % 3)
        last = len(jobs())
        until(lambda: len(jobs()) >= last + 2, "ticks after the last kill")
        until(lambda: all(job.state is State.COMPLETED for job in jobs()), "the end of all jobs")
        return sorted(_moment(job) for job in jobs())
    finally:
        app.close()


def _moment(job: Job) -> int:
    tick = datetime.fromisoformat(job.id.partition("@")[2]).replace(tzinfo=UTC)
    return round(tick.timestamp())
