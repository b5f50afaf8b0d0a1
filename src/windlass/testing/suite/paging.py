"""Cursors: page by page everything is seen exactly once, whatever comes and goes meanwhile."""

from __future__ import annotations

from ...core.model import Job, JobQuery, Spec, brief, size_of, weight
from ...core.states import State
from ...errors import InvalidOption
from ...stores.contract import PAGE_BYTES, SCAN_BATCH, Store
from ..clock import FakeClock
from ..jobs import (
    REACHABLE,
    bring,
    claim,
    finish,
    ids,
    listing,
    new_job,
    pages,
    put,
    raises,
)


async def put_everywhere(store: Store, each: int = 3) -> set[str]:
    """A few jobs in each state, some of them alike in all that a listing sorts by."""
    names = set()
    for state in REACHABLE:
        for n in range(each):
            id = f"{state}-{n}"
            await bring(store, id, state, queue=f"{state}-{n % 2}-{n}")
            names.add(id)
    return names


async def test_pages_of_every_size_cover_everything_once(store: Store) -> None:
    names = await put_everywhere(store)
    whole = ids(await listing(store, limit=100))
    assert sorted(whole) == sorted(names)
    for limit in range(1, len(names) + 2):
        assert ids(await listing(store, limit=limit)) == whole


async def test_pages_of_a_filtered_listing(store: Store) -> None:
    for n in range(30):
        await store.insert([new_job(f"job-{n:02}", Spec(f"task-{n % 4}", b""), queue=f"q{n % 2}")])
    for limit in range(1, 9):
        found = ids(await listing(store, queue="q0", task="task-2", limit=limit))
        assert found == [f"job-{n:02}" for n in range(30) if n % 4 == 2]


async def test_equals_are_told_apart(store: Store, clock: FakeClock) -> None:
    """Jobs with the same due time, or finished in the same millisecond, are still each listed."""
    names = [f"job-{n:02}" for n in range(20)]
    await put(store, *names, delay=1_000)
    assert sorted(ids(await listing(store, states=(State.SCHEDULED,), limit=3))) == names
    await store.cancel(names)
    assert sorted(ids(await listing(store, states=(State.CANCELLED,), limit=3))) == names


async def test_a_full_last_page_ends_the_listing(store: Store) -> None:
    await put(store, *"abcd")
    first = await store.find(JobQuery(limit=2))
    assert len(first.jobs) == 2
    second = await store.find(JobQuery(limit=2, cursor=first.cursor))
    assert ids([*first.jobs, *second.jobs]) == ["a", "b", "c", "d"]
    if second.cursor is not None:
        third = await store.find(JobQuery(limit=2, cursor=second.cursor))
        assert (list(third.jobs), third.cursor) == ([], None)


async def test_jobs_that_leave_between_pages(store: Store) -> None:
    names = [f"job-{n:02}" for n in range(20)]
    await put(store, *names)
    page = await store.find(JobQuery(states=(State.PENDING,), limit=5))
    await store.delete([names[0], names[4], names[5], names[12]])
    rest = await listing(store, states=(State.PENDING,), limit=5, cursor=page.cursor)
    assert ids(rest) == [name for name in names[5:] if name not in (names[5], names[12])]


async def test_jobs_that_come_between_pages(store: Store) -> None:
    names = [f"job-{n:02}" for n in range(20)]
    await put(store, *names)
    page = await store.find(JobQuery(states=(State.PENDING,), limit=5))
    await put(store, "before", priority=90)
    await put(store, "behind", priority=10)
    rest = await listing(store, states=(State.PENDING,), limit=5, cursor=page.cursor)
    assert ids(rest) == [*names[5:], "behind"]


async def test_jobs_that_move_between_pages(store: Store, clock: FakeClock) -> None:
    """Those that stay must each be listed once, though the line moves on in front of them."""
    names = [f"job-{n:02}" for n in range(20)]
    await put(store, *names)
    states = (State.PENDING, State.ACTIVE, State.COMPLETED)
    seen, cursor = [], None
    while True:
        page = await store.find(JobQuery(states=states, limit=3, cursor=cursor))
        seen += ids(page.jobs)
        if page.cursor is None:
            break
        cursor = page.cursor
        for job in await claim(store, 1):
            assert await finish(store, job, State.COMPLETED)
    stayed = ids(await listing(store, states=(State.PENDING,)))
    assert stayed
    assert [id for id in seen if id in stayed] == stayed


async def test_a_cursor_outlives_the_job_it_stands_on(store: Store, clock: FakeClock) -> None:
    for state in REACHABLE:
        for n in range(4):
            await bring(store, f"{state}-{n}", state, queue=f"{state}-{n}")
            clock.now += 1
        whole = ids(await listing(store, states=(state,)))
        page = await store.find(JobQuery(states=(state,), limit=2))
        assert ids(page.jobs) == whole[:2]
        await store.cancel([whole[1]])
        await store.delete([whole[1]])
        rest = ids(await listing(store, states=(state,), limit=2, cursor=page.cursor))
        assert rest == whole[2:], state


async def test_a_rare_task_among_many(store: Store) -> None:
    """One page looks at a bounded number of jobs; a cursor leads on through empty pages."""
    for start in range(0, 3_000, 1_000):
        await put(store, *(f"job-{n:04}" for n in range(start, start + 1_000)))
    await store.insert([new_job("rare-1", Spec("rare", b""))])
    await store.insert([new_job("rare-2", Spec("rare", b""), delay=1_000)])
    await put(store, *(f"last-{n}" for n in range(100)))
    found = await pages(store, task="rare")
    assert [id for page in found for id in ids(page)] == ["rare-1", "rare-2"]
    assert len(found) >= 3_000 // SCAN_BATCH


async def test_a_listing_of_thousands(store: Store) -> None:
    names = [f"job-{n:04}" for n in range(2_500)]
    for start in range(0, 2_500, 500):
        await put(store, *names[start : start + 500])
    assert ids(await listing(store, limit=1_000)) == names
    assert ids(await listing(store, limit=333)) == names


async def test_a_cursor_from_nowhere_is_refused(store: Store) -> None:
    await put(store, *"abc")
    good = (await store.find(JobQuery(limit=1))).cursor
    assert good is not None
    for cursor in ("", "nonsense", "!", "ä", "AAAA", good[:-1], good + "AAAA", "0", "\0"):
        with raises(InvalidOption):
            await store.find(JobQuery(cursor=cursor))


async def test_a_cursor_of_other_states_is_refused(store: Store) -> None:
    await put(store, *"abc")
    cursor = (await store.find(JobQuery(states=(State.PENDING,), limit=1))).cursor
    with raises(InvalidOption):
        await store.find(JobQuery(states=(State.DEAD,), cursor=cursor))


async def test_a_cursor_can_be_used_again(store: Store) -> None:
    await put(store, *"abcde")
    cursor = (await store.find(JobQuery(limit=2))).cursor
    for _ in range(2):
        assert ids((await store.find(JobQuery(limit=2, cursor=cursor))).jobs) == ["c", "d"]


async def test_a_cursor_is_good_for_another_handle(store: Store, another_store: Store) -> None:
    await put(store, *"abcde")
    cursor = (await store.find(JobQuery(limit=2))).cursor
    page = await another_store.find(JobQuery(limit=9, cursor=cursor))
    assert ids(page.jobs) == ["c", "d", "e"]


MEBIBYTE = 1024 * 1024


async def test_a_page_ends_where_its_jobs_are_large(store: Store) -> None:
    names = [f"job-{n}" for n in range(7)]
    await store.insert([new_job(name, Spec("work", bytes(MEBIBYTE))) for name in names])
    found, query = list[Job](), JobQuery(limit=100)
    while True:
        page = await store.find(query)
        found += page.jobs
        assert sum(map(weight, page.jobs)) <= PAGE_BYTES + MEBIBYTE
        if page.cursor is None:
            break
        assert page.jobs
        query = JobQuery(limit=100, cursor=page.cursor)
    assert [(job.id, len(job.spec.payload)) for job in found] == [(id, MEBIBYTE) for id in names]


async def test_a_brief_page_ends_where_labels_are_large(store: Store) -> None:
    large = {str(number): "x" * 8_000 for number in range(2)}
    names = [f"job-{n:03}" for n in range(300)]
    await store.insert([new_job(name, Spec("work", b"", labels=large)) for name in names])
    first = await store.find(JobQuery(limit=1_000, brief=True))
    assert first.cursor is not None
    assert sum(map(size_of, first.jobs)) <= PAGE_BYTES + 16_002
    rest = await store.find(JobQuery(limit=1_000, brief=True, cursor=first.cursor))
    assert [*ids(first.jobs), *ids(rest.jobs)] == names


async def test_a_brief_listing_leaves_out_what_may_be_large(store: Store) -> None:
    for size in (10, 10_000):
        for state in REACHABLE:
            spec = Spec("work", bytes(size), labels={"size": str(size)})
            await bring(store, f"{state}-{size}", state, spec, queue=f"{state}-{size}")
        [job] = await claim(store, 1, queue=f"{State.PENDING}-{size}")
        assert await store.checkpoint([(job.lease, bytes(size))]) == {job.id}
    whole = {job.id: job for job in await listing(store)}
    page = await store.find(JobQuery(limit=100, brief=True))
    assert len(page.jobs) == len(whole) > len(REACHABLE)
    for job in page.jobs:
        assert weight(job) == 0
        assert job == brief(whole[job.id])
    assert any(weight(job) > 10_000 for job in whole.values())


async def test_many_large_jobs_are_one_brief_page(store: Store) -> None:
    names = [f"job-{n}" for n in range(7)]
    await store.insert([new_job(name, Spec("work", bytes(MEBIBYTE))) for name in names])
    page = await store.find(JobQuery(limit=100, brief=True))
    assert [job.id for job in page.jobs] == names
    assert page.cursor is None
