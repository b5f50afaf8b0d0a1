"""What needs attention, told from made-up situations."""

from typing import Any

import pytest
from msgspec.structs import replace

from windlass.admin.attention import FEW, MOST, OLD_MS, Attention, Situation, attention
from windlass.core.model import QueueStats, Spec
from windlass.core.schedule import Schedule
from windlass.core.states import State
from windlass.core.workers import UPKEEP, Term, WorkerInfo

NOW = 1_800_000_000_000
MINUTE = 60_000


def queue(name: str = "mail", *, paused: bool = False, **counts: int) -> QueueStats:
    return QueueStats(name, {State(state): count for state, count in counts.items()}, paused)


def worker(*queues: str, active: int = 0, id: str = "w") -> WorkerInfo:
    return WorkerInfo(id, "host", 1, queues or ("mail",), 10, NOW, active, NOW)


def schedule(**options: object) -> Schedule:
    return Schedule("nightly", "0 3 * * *", Spec("report", b""), **options)  # type: ignore[arg-type]


def one(found: Situation) -> Attention:
    (only,) = attention(found)
    return only


def test_an_idle_store_and_one_at_work_need_nothing() -> None:
    assert attention(Situation(now=NOW)) == []
    busy = Situation(
        now=NOW,
        queues=[queue(pending=500, active=10, dead=3), queue("empty", completed=9)],
        oldest={"mail": NOW - OLD_MS},
        workers=[worker(active=10)],
        recent={"mail": {"completed": 1_000, "failed": 15}},
    )
    assert attention(busy) == []


def test_a_queue_that_no_worker_serves_is_told_with_what_waits_there() -> None:
    told = one(
        Situation(
            now=NOW,
            queues=[queue(pending=1_200, retry=4), queue("other", pending=1)],
            oldest={"mail": NOW - 3 * MINUTE, "other": NOW},
            workers=[worker("other:3")],
        )
    )
    assert told == Attention(
        "no_worker",
        "No worker serves the queue mail, where 1,204 jobs wait, the oldest for 3 min.",
        "mail",
    )


@pytest.mark.parametrize(
    ("counts", "text"),
    [
        ({"scheduled": 1}, "where 1 job waits."),
        ({"active": 1}, "where 1 job is active."),
        ({"active": 2}, "where 2 jobs are active."),
    ],
)
def test_without_any_worker_that_is_what_is_told(counts: dict[str, int], text: str) -> None:
    told = one(Situation(now=NOW, queues=[queue("mail", paused=False, **counts)]))
    assert told.text == f"No worker is heard of, none serves the queue mail, {text}"


def test_workers_that_are_quiet_claim_nothing_and_count_as_none() -> None:
    quiet = replace(worker(active=10), quiet=True)
    waiting: dict[str, Any] = {
        "now": NOW,
        "queues": [queue(pending=3)],
        "oldest": {"mail": NOW - 2 * OLD_MS},
    }
    told = one(Situation(**waiting, workers=[quiet]))
    assert told.kind == "no_worker"
    assert told.text == (
        "Only workers that are quiet serve the queue mail, where 3 jobs wait, the oldest for "
        "10 min."
    )
    both = one(Situation(**waiting, workers=[quiet, worker()]))
    assert (both.kind, "busy" in both.text) == ("old", False)


def test_a_queue_without_worker_that_has_nothing_to_run_is_left_alone() -> None:
    idle = [queue("a", completed=5, dead=2, cancelled=1), queue("b", blocked=1)]
    assert attention(Situation(now=NOW, queues=idle)) == []


def test_a_worker_of_every_queue_serves_them_all() -> None:
    assert not attention(Situation(now=NOW, queues=[queue(pending=1)], workers=[worker("*")]))


def test_a_job_that_waits_for_too_long_is_told_with_the_reason_that_can_be_seen() -> None:
    old = Situation(
        now=NOW,
        queues=[queue(pending=9, active=3)],
        oldest={"mail": NOW - OLD_MS - 1},
        workers=[worker(active=2), worker("*", active=1, id="x")],
    )
    assert one(old) == Attention(
        "old", "Jobs have been waiting for 5 min in the queue mail.", "mail"
    )
    full = Situation(
        now=NOW,
        queues=old.queues,
        oldest=old.oldest,
        workers=[worker(active=10), worker(active=12)],
    )
    assert one(full).text == (
        "Jobs have been waiting for 5 min in the queue mail: "
        "all 20 slots of its 2 workers are busy."
    )


def test_jobs_that_died_lately_are_told_unless_they_were_attended_to() -> None:
    def died(dead: int) -> Situation:
        return Situation(
            now=NOW, queues=[queue(dead=dead)], recent={"mail": {"dead": 12}, "": {"dead": 12}}
        )

    assert one(died(140)) == Attention(
        "dead",
        "12 jobs of the queue mail died within the last hour; 140 are dead by now.",
        "mail",
    )
    assert one(died(1)).text == "1 job of the queue mail died within the last hour."
    assert attention(died(0)) == []


def test_a_queue_fails_if_many_of_its_runs_do() -> None:
    def recent(completed: int, failed: int) -> Situation:
        return Situation(now=NOW, recent={"mail": {"completed": completed, "failed": failed}})

    assert one(recent(80, 20)) == Attention(
        "failing", "20 % of 100 runs in the queue mail failed within the last hour.", "mail"
    )
    assert attention(recent(81, 19)) == []
    assert attention(recent(0, FEW - 1)) == []
    whole = Situation(now=NOW, recent={"": {"failed": 50}})
    assert attention(whole) == []


def test_a_schedule_that_nobody_saw_to_is_late() -> None:
    # NOW is 08:00 UTC; its tick was at 03:00.
    behind = schedule(last=NOW - 24 * 60 * MINUTE, missed="last")
    assert one(Situation(now=NOW, schedules=[behind])) == Attention(
        "cron",
        "The schedule nightly is late: nobody has enqueued the job of its tick of "
        "2027-01-15 03:00 UTC (5 h ago).",
        "default",
        "nightly",
    )
    skips = schedule(last=NOW - 24 * 60 * MINUTE)
    assert one(Situation(now=NOW, schedules=[skips])).text == (
        "The schedule nightly missed its tick of 2027-01-15 03:00 UTC (5 h ago): no worker "
        "or server was there to enqueue its job."
    )


def test_a_schedule_that_is_on_time_paused_or_late_by_a_moment_is_left_alone() -> None:
    tick = NOW - 5 * 60 * MINUTE
    assert attention(Situation(now=NOW, schedules=[schedule(last=tick)])) == []
    assert attention(Situation(now=tick + MINUTE, schedules=[schedule(last=tick - MINUTE)])) == []
    assert attention(Situation(now=NOW, schedules=[schedule(last=0, paused=True)])) == []


def test_a_schedule_that_cannot_tick_is_told_with_its_fault() -> None:
    told = one(Situation(now=NOW, schedules=[schedule(zone="Mars/Olympus")]))
    assert (told.kind, told.schedule) == ("cron", "nightly")
    assert told.text.startswith("The schedule nightly does not tick: There is no time zone")


def test_a_paused_queue_is_told_while_jobs_wait_in_it_and_for_nothing_else() -> None:
    told = one(
        Situation(
            now=NOW,
            queues=[queue(pending=2, paused=True), queue("empty", dead=1, paused=True)],
            oldest={"mail": NOW - 10 * OLD_MS},
        )
    )
    assert told == Attention("paused", "The queue mail is paused, and 2 jobs wait in it.", "mail")


def test_the_most_urgent_kind_comes_first_and_within_it_the_worst() -> None:
    told = attention(
        Situation(
            now=NOW,
            queues=[
                queue("a", pending=1, paused=True),
                queue("b", pending=3),
                queue("c", pending=7, dead=2),
            ],
            recent={"c": {"dead": 2, "failed": 20}},
        )
    )
    assert [(each.kind, each.queue) for each in told] == [
        ("no_worker", "c"),
        ("no_worker", "b"),
        ("dead", "c"),
        ("failing", "c"),
        ("paused", "a"),
    ]


def test_of_many_alike_the_worst_are_told_one_by_one_and_the_rest_together() -> None:
    many = [queue(f"q{n:02}", pending=n) for n in range(1, MOST + 3)]
    told = attention(Situation(now=NOW, queues=many))
    assert len(told) == MOST + 1
    assert [each.queue for each in told[:2]] == ["q12", "q11"]
    assert told[-1] == Attention("no_worker", "2 more queues are without a worker.")
    one_more = attention(Situation(now=NOW, queues=many[1:]))
    assert one_more[-1].text == "1 more queue is without a worker."


def upkeep_by(term: Term | None, *, since: int = NOW - MINUTE) -> list[Attention]:
    workers = [replace(worker(), started_at=since)]
    leaders = {} if term is None else {UPKEEP: term}
    return [*attention(Situation(now=NOW, workers=workers, leaders=leaders))]


@pytest.mark.parametrize("term", [None, Term("w", 3, NOW - MINUTE), Term("server:1", 1, 0)])
def test_workers_that_nobody_leads_are_told_of(term: Term | None) -> None:
    (told,) = upkeep_by(term)
    assert told.kind == "upkeep"
    assert told.text.startswith("Nobody does the upkeep")
    # At first nobody does, everywhere.
    assert upkeep_by(term, since=NOW - 1_000) == []
    assert attention(Situation(now=NOW, leaders={})) == []


def test_a_leader_of_which_nothing_is_heard_is_told_of() -> None:
    (told,) = upkeep_by(Term("thief", 4, NOW + MINUTE))
    assert (told.kind, "led by thief" in told.text) == ("upkeep", True)


@pytest.mark.parametrize("holder", ["w", "server:0199"])
def test_who_leads_and_beats_is_fine(holder: str) -> None:
    assert upkeep_by(Term(holder, 4, NOW + MINUTE)) == []
    # One that was killed a moment ago has no successor yet.
    assert upkeep_by(Term(holder, 4, NOW - 5_000)) == []
