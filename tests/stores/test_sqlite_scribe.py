"""Group commit: what is asked for at the same time shares a transaction."""

import asyncio
import struct
from pathlib import Path

import pytest

from windlass.core.model import JobQuery
from windlass.errors import InvalidOption
from windlass.stores.contract import Store
from windlass.stores.open import open_store
from windlass.testing.jobs import claim, counts, new_job, put, state_of

HEADER, FRAME_HEADER = 32, 24


def commits(path: Path) -> int:
    """How many transactions are in the write-ahead log: each ends with a frame that says so."""
    log = path.with_name(path.name + "-wal").read_bytes()
    if not log:
        return 0
    page = struct.unpack(">I", log[8:12])[0]
    salts = log[16:24]
    count = 0
    for at in range(HEADER, len(log), FRAME_HEADER + page):
        _, size_after_commit = struct.unpack(">II", log[at : at + 8])
        if log[at + 8 : at + 16] != salts:  # left over from before the log was begun again
            break
        count += size_after_commit != 0
    return count


async def test_one_write_is_one_commit(store: Store, path: Path) -> None:
    before = commits(path)
    for n in range(5):
        await put(store, str(n))
    assert commits(path) - before == 5


async def test_writes_at_the_same_time_share_commits(store: Store, path: Path) -> None:
    before = commits(path)
    await asyncio.gather(*(put(store, str(n)) for n in range(200)))
    assert 1 <= commits(path) - before < 100
    assert await counts(store) == {"pending": 200}


async def test_a_batch_is_one_commit_however_large(store: Store, path: Path) -> None:
    before = commits(path)
    await store.insert([new_job(str(n)) for n in range(500)])
    assert commits(path) - before == 1


async def test_operations_run_in_the_order_in_which_they_were_asked_for(store: Store) -> None:
    _, jobs, _, more = await asyncio.gather(
        put(store, "a", "b"), claim(store), put(store, "c"), claim(store)
    )
    assert [job.id for job in jobs or ()] == ["a", "b"]
    assert [job.id for job in more or ()] == ["c"]


async def test_an_operation_that_fails_does_no_harm_to_the_others_of_its_group(
    store: Store, path: Path
) -> None:
    impossible = new_job("bad", due=2**70)
    before = commits(path)
    answers = await asyncio.gather(
        *(store.insert([impossible if n == 50 else new_job(str(n))]) for n in range(100)),
        return_exceptions=True,
    )
    failed = [n for n, answer in enumerate(answers) if isinstance(answer, BaseException)]
    assert failed == [50]
    assert await counts(store) == {"pending": 99}
    assert await state_of(store, "bad") is None
    assert commits(path) > before


async def test_each_of_two_that_fail_is_told_its_own_error(store: Store) -> None:
    wrong = store.find(JobQuery(cursor="nonsense"))
    answers = await asyncio.gather(
        wrong, store.get(["a"]), store.find(JobQuery(cursor="&")), return_exceptions=True
    )
    assert [type(answer) for answer in answers] == [InvalidOption, dict, InvalidOption]


async def test_a_failed_batch_leaves_none_of_its_jobs(store: Store) -> None:
    jobs = [new_job(str(n)) for n in range(120)]
    with pytest.raises(OverflowError):
        await store.insert([*jobs, new_job("bad", due=2**70)])
    assert await counts(store) == {}
    assert await store.get([job.id for job in jobs]) == {}


async def test_a_caller_that_was_cancelled_harms_nobody(store: Store) -> None:
    tasks = [asyncio.create_task(put(store, str(n))) for n in range(50)]
    await asyncio.sleep(0)
    for task in tasks[::2]:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert all(not task.cancelled() for task in tasks[1::2])
    await put(store, "after")
    found = await store.get([*map(str, range(50)), "after"])
    assert found.keys() >= {*map(str, range(1, 50, 2)), "after"}


async def test_what_was_asked_for_before_the_store_closed_is_still_done(
    url: str, store: Store
) -> None:
    other = open_store(url)
    await other.open()
    tasks = [asyncio.create_task(put(other, str(n))) for n in range(50)]
    await asyncio.sleep(0)
    await other.close()
    await asyncio.gather(*tasks)
    assert await counts(store) == {"pending": 50}
