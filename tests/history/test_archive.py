"""What history makes of the lines that it is handed: in any order, any number of times."""

import asyncio

import pytest

from tests.history.engines import line
from windlass.core.model import Failure, Job, Progress, Spec
from windlass.core.states import State
from windlass.errors import InvalidOption, UnknownScheme
from windlass.history.archive import Archive
from windlass.history.find import MOST_ATTEMPTS, WINDOW
from windlass.history.open import open_archive
from windlass.history.query import Attempt, HistoryQuery, Sort
from windlass.history.record import job_row, renewal
from windlass.stores.sql.operation import Bulk, Operation
from windlass.testing.clock import START, FakeClock

BOOM = Failure("ValueError", "Boom: naïve 💥", "line 1\nline 2", at=START - 10)


async def ids(archive: Archive, **query: object) -> list[str]:
    page = await archive.find(HistoryQuery(**query))  # type: ignore[arg-type]
    return [job.id for job in page.jobs]


async def test_a_job_comes_back_as_it_was(archive: Archive) -> None:
    spec = Spec("work", bytes(range(256)), timeout=5, labels={"tenant": "ä"}, headers={"a": "b"})
    entry = line(
        "a", State.DEAD, spec=spec, error=BOOM, unique="key", progress=Progress(50.0, "half")
    )
    await archive.keep([entry])
    assert await archive.get("a") == entry.job
    page = await archive.find(HistoryQuery(states=(State.DEAD,)))
    assert (list(page.jobs), page.cursor) == ([entry.job], None)


async def test_nothing_is_found_where_nothing_is(archive: Archive) -> None:
    assert await archive.get("a") is None
    assert list(await archive.attempts("a")) == []
    assert await ids(archive) == []
    await archive.keep([])
    assert await archive.prune(10, 0, 0) == 0


async def test_what_is_handed_over_twice_is_there_once(archive: Archive) -> None:
    entries = [line("a", State.RETRY, error=BOOM), line("a", at=5, fence=2, attempt=2), line("b")]
    for _ in range(3):
        await archive.keep(entries)
    assert sorted(await ids(archive)) == ["a", "b"]
    assert [each.fence for each in await archive.attempts("a")] == [1, 2]
    # What is counted twice would be dropped too early.
    assert await archive.prune(10, most=2) == 0


async def test_the_last_line_of_a_job_counts_whatever_comes_first(archive: Archive) -> None:
    lines = [
        line("a", State.RETRY, at=0, fence=1, error=BOOM),
        line("a", State.DEAD, at=10, fence=2, attempt=2, error=BOOM),
        line("a", State.COMPLETED, at=20, fence=3, error=BOOM),
    ]
    for entry in reversed(lines):
        await archive.keep([entry])
    assert await archive.get("a") == lines[-1].job
    assert len(await archive.attempts("a")) == 3


async def test_a_job_cancelled_while_it_waited_has_no_attempt_by_it(archive: Archive) -> None:
    retry = line("a", State.RETRY, error=BOOM)
    off = line("a", State.CANCELLED, at=5, error=BOOM, ran=False)
    await archive.keep([off])
    await archive.keep([retry])
    job = await archive.get("a")
    assert job is not None
    assert job.state is State.CANCELLED
    [attempt] = await archive.attempts("a")
    assert attempt.state is State.RETRY
    assert await ids(archive, max_duration=0) == ["a"]


async def test_a_job_of_the_same_id_in_another_store_is_taken(archive: Archive) -> None:
    await archive.keep([line("a", State.DEAD, fence=900)])
    later = line("a", fence=900, at=3_600_000)
    await archive.keep([later])
    assert await archive.get("a") == later.job
    much_later = line("a", fence=2, at=7_200_000)
    await archive.keep([much_later])
    assert await archive.get("a") == much_later.job
    assert len(await archive.attempts("a")) == 3


async def test_an_attempt_says_when_where_and_what_it_came_to(archive: Archive) -> None:
    await archive.keep(
        [
            line("a", State.RETRY, at=100, took=40, fence=1, error=BOOM),
            line("a", State.PENDING, at=150, took=5, fence=2, error=BOOM, attempt=1),
            line("a", State.COMPLETED, at=200, took=30, fence=3, error=BOOM, attempt=2),
        ]
    )
    failed, released, done = await archive.attempts("a")
    assert failed == Attempt(
        "a", 1, 1, State.RETRY, START + 60, START + 100, worker="w1", error=BOOM
    )
    assert (released.state, released.error, released.number) == (State.PENDING, None, 1)
    assert (done.state, done.error, done.number, done.duration) == (State.COMPLETED, None, 2, 30)


async def test_only_finished_jobs_are_listed_unless_others_are_asked_for(archive: Archive) -> None:
    for n, state in enumerate(State):
        await archive.keep([line(state.value, state, at=n)])
    assert await ids(archive) == ["cancelled", "dead", "completed"]
    assert await ids(archive, states=(State.RETRY, State.DEAD)) == ["dead", "retry"]


async def test_a_replayed_job_is_found_again_when_it_is_over(archive: Archive) -> None:
    await archive.keep([line("a", State.DEAD, fence=1)])
    await archive.keep([line("a", State.RETRY, fence=2, at=10)])
    assert await ids(archive) == []
    await archive.keep([line("a", State.COMPLETED, fence=3, at=20)])
    assert await ids(archive) == ["a"]


async def test_error_text_is_found_in_small_and_capital_letters(archive: Archive) -> None:
    await archive.keep([line("a", State.DEAD, error=BOOM), line("b")])
    for text in ("boom", "NAÏVE", "valueerror: Boom", "💥"):
        assert await ids(archive, error=text) == ["a"], text
    for text in ("nothing", "%", "_", "\\"):
        assert await ids(archive, error=text) == [], text


async def test_labels_are_found_exactly(archive: Archive) -> None:
    entries = [
        line("a", spec=Spec("work", b"", labels={"tenant": "A", "zone": "eu"})),
        line("b", spec=Spec("work", b"", labels={"tenant": "a"})),
        line("c", spec=Spec("work", b"", labels={"tenant": "%"})),
        line("d"),
    ]
    await archive.keep(entries)
    assert await ids(archive, labels={"tenant": "A"}) == ["a"]
    assert await ids(archive, labels={"zone": "eu", "tenant": "A"}) == ["a"]
    assert await ids(archive, labels={"zone": "eu", "tenant": "a"}) == []
    assert await ids(archive, labels={"tenant": "%"}) == ["c"]
    assert await ids(archive, labels={"A": "tenant"}) == []


@pytest.mark.parametrize("sort", Sort)
async def test_a_page_looks_at_a_bounded_number(archive: Archive, sort: Sort) -> None:
    await archive.keep([line(f"job-{n:05}", at=n) for n in range(WINDOW * 2 + 10)])
    await archive.keep([line("needle", at=-1, took=0, created=-9_999, attempt=0, queue="rare")])
    query = HistoryQuery(error="x", sort=sort)
    empty = 0
    while (page := await archive.find(query)).cursor is not None:
        assert list(page.jobs) == []
        query = HistoryQuery(error="x", sort=sort, cursor=page.cursor)
        empty += 1
    assert empty == 2
    if sort is Sort.FINISHED:
        # By an index of its own, without a look at any other.
        assert await ids(archive, queue="rare") == ["needle"]


async def test_a_cursor_of_something_else_is_refused(archive: Archive) -> None:
    await archive.keep([line("a"), line("b")])
    page = await archive.find(HistoryQuery(limit=1))
    for query in (
        HistoryQuery(cursor="nonsense"),
        HistoryQuery(cursor="💥"),
        HistoryQuery(cursor=page.cursor, ascending=True),
        HistoryQuery(cursor=page.cursor, sort=Sort.CREATED),
    ):
        with pytest.raises(InvalidOption, match="cursor"):
            await archive.find(query)


async def test_of_very_many_attempts_the_last_are_given(archive: Archive) -> None:
    number = MOST_ATTEMPTS + 3
    await archive.keep([line("a", State.SCHEDULED, at=n, fence=n) for n in range(1, number + 1)])
    found = await archive.attempts("a")
    assert [each.fence for each in found] == list(range(4, number + 1))


async def test_two_who_write_the_same_at_once_do_no_harm(
    archive: Archive, history_url: str, clock: FakeClock
) -> None:
    other = open_archive(history_url, clock=clock)
    await other.open()
    entries = [line(f"job-{n:03}", fence=n) for n in range(200)]
    await asyncio.gather(
        *(
            each.keep(entries[start : start + 50])
            for start in range(0, 200, 25)
            for each in (archive, other)
        )
    )
    assert len(await ids(archive, limit=1_000)) == 200
    assert await archive.prune(1_000, most=200) == 0
    await other.close()


async def test_what_is_older_than_it_is_to_be_kept_goes(archive: Archive, clock: FakeClock) -> None:
    await archive.keep([line(f"job-{n}", at=n * 1_000) for n in range(10)])
    clock.advance(10)
    assert await archive.prune(2, keep=5_000) == 2
    assert await archive.prune(100, keep=5_000) == 3
    assert await archive.prune(100, keep=5_000) == 0
    assert await ids(archive, ascending=True) == [f"job-{n}" for n in range(5, 10)]
    assert list(await archive.attempts("job-0")) == []
    assert len(await archive.attempts("job-9")) == 1


async def test_what_is_more_than_is_to_be_kept_goes(archive: Archive) -> None:
    await archive.keep([line(f"job-{n}", at=n) for n in range(10)])
    assert await archive.prune(3, most=4) == 3
    assert await archive.prune(100, most=4) == 3
    assert await archive.prune(100, most=4) == 0
    assert await ids(archive) == ["job-9", "job-8", "job-7", "job-6"]
    await archive.keep([line("job-0", at=50)])
    assert await archive.prune(100, most=4) == 1
    assert await ids(archive) == ["job-0", "job-9", "job-8", "job-7"]


async def test_age_and_number_hold_together(archive: Archive, clock: FakeClock) -> None:
    await archive.keep([line(f"job-{n}", at=n * 1_000) for n in range(10)])
    clock.advance(10)
    assert await archive.prune(100, keep=8_000, most=6) == 4
    assert await archive.prune(100, keep=2_000, most=6) == 4
    assert await ids(archive) == ["job-9", "job-8"]


async def test_a_damaged_record_hides_no_other(history_url: str, clock: FakeClock) -> None:
    archive = open_archive(history_url, clock=clock)
    await archive.open()
    await archive.keep([line("a"), line("b")])
    await damage(archive, "a")
    page = await archive.find(HistoryQuery())
    assert sorted(job.id for job in page.jobs) == ["a", "b"]
    job = await archive.get("a")
    assert isinstance(job, Job)
    assert job.spec.content_type == "unreadable"
    await archive.close()


async def damage(archive: Archive, id: str) -> None:
    """Write something else where the record of a job is."""

    def operation() -> Operation[None]:
        row = (*job_row(line(id, at=10))[:-1], b"\xc1 broken")
        yield Bulk("renew_job", [renewal(row)])

    await archive._database.write(lambda _: operation())


def test_a_url_that_no_history_serves_is_refused() -> None:
    for url, hint in (
        ("redis://localhost", "known are"),
        ("sqlit:///a.db", "did you mean sqlite"),
        ("nonsense", "known are"),
    ):
        with pytest.raises(UnknownScheme, match=hint):
            open_archive(url)


async def test_opening_twice_migrates_once(history_url: str) -> None:
    first = open_archive(history_url)
    assert list(await first.migrate()) == ["0001_history"]
    assert list(await first.migrate()) == []
    await first.open()
    await first.close()
