"""What a ledger counts, all at once or one by one, and where it draws the line."""

from bisect import bisect_left
from itertools import count

import pytest

from windlass.core import stats
from windlass.core.model import Job, Spec, Transition
from windlass.core.states import State
from windlass.observe import ledger
from windlass.observe.ledger import BOUNDS, NOT_RUN, OTHER, SCRAPED, Ledger

_number = count()


def job(queue: str = "default", task: str = "t", waited: int = 0) -> Job:
    id = f"job-{next(_number)}"
    moment = 1_000_000
    return Job(
        id, Spec(task, b""), queue, State.ACTIVE, 50, 0, moment, 1, 1, started_at=moment + waited
    )


def settle(
    book: Ledger, jobs: list[Job], *, state: State = State.COMPLETED, seconds: float = 0.001
) -> None:
    moves = [Transition(job.id, job.fence, state, queue=job.queue) for job in jobs]
    book.settle(jobs, moves, [seconds] * len(jobs), frozenset(job.id for job in jobs))


def by_hand(jobs: list[Job], seconds: float) -> Ledger:
    """The same, one job at a time."""
    book = Ledger()
    for each in jobs:
        book.settle_one(each, Transition(each.id, 1, State.COMPLETED), seconds)
    return book


@pytest.mark.parametrize("waits", [[0] * 5, [7_000] * 5, [0, 4, 6, 2_000, 9_000_000]])
@pytest.mark.parametrize("seconds", [0.0, 0.005, 0.0051, 3.0, 9_999.0])
def test_jobs_count_the_same_together_and_alone(waits: list[int], seconds: float) -> None:
    jobs = [job(waited=each) for each in waits]
    book = Ledger()
    settle(book, jobs, seconds=seconds)
    assert book.rows.keys() == {("default", "t")}
    [row] = book.rows.values()
    [expected] = by_hand(jobs, seconds).rows.values()
    assert row.completed == len(waits) and sum(row.run.counts) == sum(row.wait.counts) == len(waits)
    assert (row.run.counts, row.wait.counts) == (expected.run.counts, expected.wait.counts)
    assert row.run.seconds == pytest.approx(expected.run.seconds)
    assert row.wait.seconds == pytest.approx(sum(waits) / 1000)
    assert row.run.counts[bisect_left(BOUNDS, seconds)] == len(waits)


def test_each_task_and_queue_has_a_row_of_its_own() -> None:
    book = Ledger()
    settle(book, [job("a", "x"), job("a", "y"), job("b", "x"), job("a", "x")])
    counts = {key: row.completed for key, row in book.rows.items()}
    assert counts == {("a", "x"): 2, ("a", "y"): 1, ("b", "x"): 1}


@pytest.mark.parametrize(
    ("state", "counts"),
    [
        (State.COMPLETED, {"completed": 2}),
        (State.RETRY, {"failed": 2, "retried": 2}),
        (State.DEAD, {"failed": 2, "dead": 2}),
        (State.CANCELLED, {"cancelled": 2}),
        (State.PENDING, {}),
        (State.SCHEDULED, {}),
    ],
)
def test_an_attempt_counts_by_what_follows_it(state: State, counts: dict[str, int]) -> None:
    book = Ledger()
    settle(book, [job(), job()], state=state)
    [row] = book.rows.values()
    assert {name: n for name in ledger.COUNTS if (n := getattr(row, name))} == counts


def test_what_the_store_has_not_taken_is_only_refused() -> None:
    book, jobs = Ledger(), [job(), job()]
    moves = [Transition(each.id, 1, State.COMPLETED) for each in jobs]
    book.settle(jobs, moves, [0.1, 0.1], frozenset([jobs[0].id]))
    [row] = book.rows.values()
    assert (row.completed, row.fence_refused, sum(row.run.counts)) == (1, 1, 2)


def test_what_never_started_has_neither_run_nor_waited() -> None:
    book = Ledger()
    settle(book, [job()], state=State.CANCELLED, seconds=NOT_RUN)
    settle(book, [job(), job()], seconds=NOT_RUN)
    [row] = book.rows.values()
    assert (row.cancelled, row.completed) == (1, 2)
    assert sum(row.run.counts) == sum(row.wait.counts) == 0


def test_a_rescued_job_has_failed() -> None:
    book, lost = Ledger(), job()
    book.rescued(lost, Transition(lost.id, 2, State.RETRY))
    [row] = book.rows.values()
    assert (row.rescued, row.failed, row.retried) == (1, 1, 1)


def test_tasks_of_others_share_a_row() -> None:
    book = Ledger(known={"mine"})
    settle(book, [job(task="mine"), *(job(task=f"theirs-{n}") for n in range(9))])
    counts = {key: row.completed for key, row in book.rows.items()}
    assert counts == {("default", "mine"): 1, ("default", OTHER): 9}


def test_there_is_a_bound_to_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "MOST_ROWS", 10)
    book = Ledger()
    settle(book, [job(queue=f"q{n}") for n in range(50)])
    settle(book, [job(queue="q3")])
    assert len(book.rows) == 11
    assert book.rows[OTHER, OTHER].completed == 40
    assert book.rows["q3", "t"].completed == 2


def test_what_is_counted_can_be_told_by_the_bounds_of_either() -> None:
    assert {*stats.BOUNDS} <= {*BOUNDS} and {*SCRAPED} <= {*BOUNDS}
