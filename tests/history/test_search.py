"""Every filter, order and page against a plain loop over the same jobs."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.history.engines import ENGINES, fresh_url, line
from windlass.core.model import Entry, Failure, Job, Spec
from windlass.core.states import State
from windlass.history.archive import Archive
from windlass.history.open import open_archive
from windlass.history.query import HistoryQuery, Sort
from windlass.stores.contract import PAGE_BYTES
from windlass.testing.clock import START

TEXTS = st.sampled_from(["boom", "Boom 💥", "no route", "%"])
LABELS = st.dictionaries(st.sampled_from("ab"), st.sampled_from(["1", "2"]), max_size=2)
FEW = st.integers(0, 5)
BOUNDS = ((2_000, 20, 4_000_000), (3, 1, 400))
"""How many lines a search looks at in one go, how many jobs it reads first, and bytes of a page."""

lines = st.builds(
    line,
    st.sampled_from([f"job-{n}" for n in range(12)]),
    st.sampled_from(sorted(State)),
    at=FEW,
    took=FEW,
    created=FEW.map(lambda n: n - 10),
    spec=st.builds(Spec, st.sampled_from(["t1", "t2"]), st.just(b""), labels=LABELS),
    queue=st.sampled_from(["q1", "q2"]),
    attempt=st.integers(0, 2),
    fence=st.integers(1, 9),
    ran=st.booleans(),
    error=st.none() | st.builds(Failure, st.just("ValueError"), TEXTS),
)
moments = st.none() | FEW.map(lambda n: START + n)
queries = st.fixed_dictionaries(
    {
        "states": st.lists(st.sampled_from(sorted(State)), max_size=3, unique=True).map(tuple),
        "task": st.none() | st.sampled_from(["t1", "t3"]),
        "queue": st.none() | st.sampled_from(["q1", "q3"]),
        "since": moments,
        "until": moments,
        "labels": LABELS,
        "error": st.none() | st.sampled_from(["BOOM", "valueerror", "%"]),
        "min_duration": st.none() | FEW,
        "max_duration": st.none() | FEW,
        "sort": st.sampled_from(sorted(Sort)),
        "ascending": st.booleans(),
        "limit": st.integers(1, 5),
    }
)


def newest(entries: list[Entry]) -> list[Entry]:
    last: dict[str, Entry] = {}
    for entry in sorted(entries, key=lambda each: (each.job.fence, not each.ran, each.at)):
        last[entry.job.id] = entry
    return list(last.values())


def duration(entry: Entry) -> int:
    return entry.at - (entry.job.started_at or 0) if entry.ran else 0


def matches(entry: Entry, query: HistoryQuery) -> bool:
    job = entry.job
    labels = job.spec.labels or {}
    return (
        job.state in query.wanted
        and query.task in (None, job.task)
        and query.queue in (None, job.queue)
        and (query.since is None or entry.at >= query.since)
        and (query.until is None or entry.at < query.until)
        and all(labels.get(name) == value for name, value in query.labels.items())
        and (query.error is None or query.error.casefold() in str(job.error or "").casefold())
        and duration(entry) >= (query.min_duration or 0)
        and (query.max_duration is None or duration(entry) <= query.max_duration)
    )


def key(entry: Entry, sort: Sort) -> tuple[int, str]:
    keys = {
        Sort.FINISHED: entry.at,
        Sort.CREATED: entry.job.created_at,
        Sort.DURATION: duration(entry),
        Sort.ATTEMPTS: entry.job.attempt,
    }
    return keys[sort], entry.job.id


async def listing(archive: Archive, query: dict[str, Any]) -> list[Job]:
    found: list[Job] = []
    cursor = None
    while True:
        page = await archive.find(HistoryQuery(**query, cursor=cursor))
        assert len(page.jobs) <= query["limit"]
        found += page.jobs
        cursor = page.cursor
        if cursor is None:
            return found


async def fill(archive: Archive, entries: list[Entry]) -> None:
    """Let it have these alone."""
    while await archive.prune(1_000, most=0):
        pass
    await archive.keep(entries)


def test_a_search_finds_what_a_loop_over_all_jobs_finds(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The same jobs and searches for each: to make them up takes longer than to search.
    archives = {name: open_archive(fresh_url(name, request, tmp_path)) for name in ENGINES}

    def wanted_of(entries: list[Entry], query: dict[str, Any]) -> list[Job]:
        wanted = HistoryQuery(**query)
        found = [entry for entry in newest(entries) if matches(entry, wanted)]
        found.sort(key=lambda entry: key(entry, wanted.sort), reverse=not wanted.ascending)
        return [entry.job for entry in found]

    async def check(entries: list[Entry], asked: list[dict[str, Any]]) -> None:
        await asyncio.gather(*[fill(archive, entries) for archive in archives.values()])
        expected = [wanted_of(entries, query) for query in asked]
        for window, first, size in BOUNDS:
            monkeypatch.setattr("windlass.history.find.WINDOW", window)
            monkeypatch.setattr("windlass.history.find.FIRST", first)
            monkeypatch.setattr("windlass.history.find.PAGE_BYTES", size)
            for name, archive in archives.items():
                for query, wanted in zip(asked, expected, strict=True):
                    assert await listing(archive, query) == wanted, (name, window)

    with asyncio.Runner() as runner:
        for archive in archives.values():
            runner.run(archive.open())

        @settings(max_examples=150, suppress_health_check=list(HealthCheck))
        @given(
            st.lists(lines, max_size=25, unique_by=lambda each: (each.job.id, each.job.fence)),
            st.lists(queries, min_size=1, max_size=5),
        )
        def search(entries: list[Entry], asked: list[dict[str, Any]]) -> None:
            runner.run(check(entries, asked))

        search()
        for archive in archives.values():
            runner.run(archive.close())


async def test_a_page_ends_where_its_jobs_are_large(tmp_path: Path) -> None:
    archive = open_archive(f"sqlite:///{tmp_path}/history.db")
    spec = Spec("work", bytes(300_000))
    await archive.open()
    await archive.keep([line(f"job-{n:02}", at=n, spec=spec) for n in range(40)])
    found, cursor = list[Job](), None
    while True:
        page = await archive.find(HistoryQuery(limit=1_000, cursor=cursor))
        assert sum(len(job.spec.payload) for job in page.jobs) <= PAGE_BYTES + 300_000
        found += page.jobs
        cursor = page.cursor
        if cursor is None:
            break
    assert [job.id for job in found] == [f"job-{n:02}" for n in reversed(range(40))]
    await archive.close()
