"""Why a job does not run: each situation has its own sentence, and a doubt is said."""

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from windlass.admin.facts import Facts, Line
from windlass.admin.why import LONGEST_ERROR, Reason, explain
from windlass.core.dependents import orphaned
from windlass.core.lane import Lane
from windlass.core.model import NEVER, Failure, Job, Progress, Spec
from windlass.core.outcome import EXPIRED
from windlass.core.states import State
from windlass.core.workers import WorkerInfo

NOW = 1_750_000_000_000
AT = "2025-06-15T15:06:40.000Z"
MINUTE = 60_000
BOOM = Failure("ValueError", "boom")


def worker(id: str = "w1", *queues: str, active: int = 0, concurrency: int = 10) -> WorkerInfo:
    return WorkerInfo(id, "host", 1, queues or ("mail",), concurrency, NOW, active, NOW)


NOT_OF_THE_JOB = ("paused", "line", "active", "held", "awaited")


def facts(state: State, *workers: WorkerInfo, **more: Any) -> Facts:
    """A job of the queue mail and what is around it; the rest goes to the job."""
    about = {name: more.pop(name) for name in NOT_OF_THE_JOB if name in more}
    usual: dict[str, Any] = {"spec": Spec("send", b""), "created_at": NOW, "due": NOW}
    job = Job(id="j", queue="mail", state=state, priority=50, **usual | more)
    return Facts(job, NOW, workers=workers, **about)


def why(state: State, *workers: WorkerInfo, **more: Any) -> Reason:
    reason = explain(facts(state, *workers, **more))
    assert reason.sentence.endswith(".")
    assert "\n" not in reason.sentence
    assert reason.sentence[0].isupper() or reason.sentence[0].isdigit()
    return reason


def test_every_state_has_an_answer() -> None:
    assert all(why(state, worker(), line=Line(0)).code for state in State)


def test_a_job_that_expired_says_when() -> None:
    spec = Spec("send", b"", expires_in=MINUTE)
    expired = why(
        State.CANCELLED, created_at=NOW - 2 * MINUTE, finished_at=NOW, error=EXPIRED, spec=spec
    )
    assert expired == (
        "expired",
        "It expired at 2025-06-15T15:05:40.000Z (1 min ago), before a worker could start it.",
    )


def test_a_completed_job_is_done() -> None:
    assert why(State.COMPLETED, attempt=2, finished_at=NOW - MINUTE) == (
        "completed",
        "It is done: attempt 2 completed it at 2025-06-15T15:05:40.000Z (1 min ago).",
    )


def test_a_dead_job_tells_its_error() -> None:
    assert why(State.DEAD, attempt=4, finished_at=NOW - MINUTE, error=BOOM) == (
        "dead",
        (
            "It is dead since 2025-06-15T15:05:40.000Z (1 min ago), after attempt 4 of at most 4 "
            "(ValueError: boom); only a replay makes it run again."
        ),
    )


def test_an_error_is_put_on_one_line_and_cut() -> None:
    error = Failure("ValueError", "two\nlines " + "x" * 1_000)
    sentence = why(State.DEAD, attempt=1, finished_at=NOW, error=error).sentence
    assert "(ValueError: two lines xxx" in sentence
    assert "x…)" in sentence
    assert len(sentence) < LONGEST_ERROR + 200


def test_a_cancelled_job() -> None:
    assert why(State.CANCELLED, finished_at=NOW) == (
        "cancelled",
        f"It was cancelled at {AT} (just now); only a replay makes it run again.",
    )


def test_a_blocked_job_names_what_it_waits_for() -> None:
    parent = facts(State.ACTIVE).job
    blocked = why(State.BLOCKED, waits_for=("a", "j"), awaited={"j": parent})
    assert blocked == ("blocked", "It waits for 2 jobs that it depends on: a, j (active).")


def test_a_blocked_job_that_waits_for_many_names_some() -> None:
    sentence = why(State.BLOCKED, waits_for=tuple(map(str, range(1_005)))).sentence
    assert sentence == "It waits for 1,005 jobs that it depends on: 0, 1, 2, 3, 4 and 1,000 more."


def test_an_orphan_says_what_it_depended_on() -> None:
    assert why(State.CANCELLED, finished_at=NOW, error=orphaned("p", "dead")) == (
        "orphaned",
        (
            f"It was cancelled at {AT} (just now): job p, which it depends on, is dead; replay "
            "that one first, then this."
        ),
    )


LANES = {
    "limited": (
        Lane("limit:send", slots=2),
        "The limit 'send' holds it back: at most 2 may run at",
    ),
    "sequence": (
        Lane("sequence:order:7", slots=1, strict=True),
        "It waits until those before it in the sequence 'order:7' have ended.",
    ),
    "batch": (
        Lane("batch:send", size=100, grace=1_000, longest=10_000),
        "It waits for others, to run together as at most 100, once none has come for 1 s or",
    ),
}


@pytest.mark.parametrize("code", LANES)
def test_a_job_that_waits_in_its_lane_says_for_what(code: str) -> None:
    lane, sentence = LANES[code]
    reason = why(State.BLOCKED, worker(), spec=Spec("send", b"", lane=lane))
    assert reason.code == code
    assert reason.sentence.startswith(sentence)
    waits = why(State.BLOCKED, worker(), spec=Spec("send", b"", lane=lane), waits_for=("p",))
    assert waits.code == "blocked"


def test_the_limits_are_told() -> None:
    lane = Lane("limit:send:ada", slots=1, starts=10, per=60_000, burst=1)
    spec = Spec("send", b"", lane=lane)
    assert why(State.BLOCKED, worker(), paused=True, spec=spec).sentence == (
        "The limit 'send:ada' holds it back: at most 1 may run at a time, and at most 10 may start "
        "in 60 s; besides, its queue mail is paused until someone resumes it."
    )
    ticket = why(State.SCHEDULED, worker(), spec=spec, due=NOW + MINUTE)
    assert ticket.sentence.startswith("It waits for its time or its turn, 2025-")


def test_a_parked_job_waits_for_its_signal() -> None:
    assert why(State.SCHEDULED, worker(), due=NOW + MINUTE, awaits="paid") == (
        "parked",
        "It is parked for the signal 'paid' until 2025-06-15T15:07:40.000Z (in 1 min).",
    )
    assert why(State.SCHEDULED, due=NEVER, awaits="paid").sentence == (
        "It is parked for the signal 'paid' for as long as it takes; besides, no worker serves its "
        "queue mail: none at all is heard of."
    )
    assert why(State.SCHEDULED, worker(), due=NOW - 1, awaits="paid").code == "due"


def test_a_scheduled_job_waits_for_its_time() -> None:
    assert why(State.SCHEDULED, worker(), due=NOW + 2 * MINUTE) == (
        "scheduled",
        "It waits for its time, 2025-06-15T15:08:40.000Z (in 2 min).",
    )


@pytest.mark.parametrize("state", [State.SCHEDULED, State.RETRY])
def test_what_will_be_in_its_way_even_then_is_said_too(state: State) -> None:
    waits = {"due": NOW + MINUTE}
    assert why(state, worker(), paused=True, **waits).sentence.endswith(
        "(in 1 min); besides, its queue mail is paused until someone resumes it."
    )
    assert "; besides, no worker serves its queue mail" in why(state, **waits).sentence
    assert "besides" not in why(state, worker(active=10), **waits).sentence


def test_a_job_between_attempts_tells_after_which_error_and_until_when() -> None:
    assert why(State.RETRY, worker(), attempt=1, due=NOW + MINUTE, error=BOOM) == (
        "retry",
        (
            "It failed in attempt 1 of at most 4 (ValueError: boom), and waits for the next one at "
            "2025-06-15T15:07:40.000Z (in 1 min)."
        ),
    )


@pytest.mark.parametrize("state", [State.SCHEDULED, State.RETRY])
def test_a_job_whose_time_has_come_tells_what_it_waits_for_now(state: State) -> None:
    due = {"due": NOW - MINUTE}
    assert why(state, worker(), **due).code == "due"
    assert why(state, worker(), **due).sentence.startswith("Its time came 1 min ago, but the next")
    assert why(state, worker(), paused=True, **due).code == "paused"
    assert why(state, **due).sentence == (
        "Its time came 1 min ago, but no worker serves its queue mail: none at all is heard of."
    )


def test_a_paused_queue_comes_before_all_other_reasons() -> None:
    assert why(State.PENDING, paused=True, line=Line(5)) == (
        "paused",
        "Its queue mail is paused until someone resumes it.",
    )


def test_no_worker_of_its_queue() -> None:
    assert why(State.PENDING, line=Line(0)) == (
        "no_worker",
        "No worker serves its queue mail: none at all is heard of.",
    )
    assert why(State.PENDING, worker("w1", "b", "a"), line=Line(0)).sentence == (
        "No worker serves its queue mail: the 1 worker heard of serves a, b."
    )
    two = worker("w1", "a"), worker("w2", *"bcdefghij")
    assert why(State.PENDING, *two, line=Line(0)).sentence == (
        "No worker serves its queue mail: the 2 workers heard of serve a, b, c, d, e, f, g, h, …."
    )


def test_workers_that_are_quiet_claim_nothing() -> None:
    quiet = msgspec.structs.replace(worker(), quiet=True)
    assert why(State.PENDING, quiet, line=Line(3)) == (
        "quiet",
        "The one worker of its queue mail is quiet until it is told to work again.",
    )
    assert why(State.PENDING, quiet, quiet, line=Line(0)).sentence == (
        "All 2 workers of its queue mail are quiet until one is told to work again."
    )
    full = worker("w2", active=10)
    assert why(State.PENDING, quiet, full, line=Line(0)).sentence == (
        "The one worker of its queue mail seems to have no free slot of 10."
    )
    assert "worker w3 may tell" in why(State.PENDING, quiet, worker("w3"), line=Line(0)).sentence


def test_the_order_that_stands_counts_before_the_worker_has_heard_it() -> None:
    told = msgspec.structs.replace(worker(), order="quiet")
    assert why(State.PENDING, told, line=Line(0)).code == "quiet"
    resumed = msgspec.structs.replace(worker(), quiet=True, order="work")
    assert why(State.PENDING, resumed, line=Line(0)).code == "next"
    stopping = msgspec.structs.replace(worker(), order="stop")
    assert why(State.PENDING, stopping, line=Line(0)) == (
        "no_worker",
        "The one worker of its queue mail was told to stop.",
    )


def test_a_worker_of_every_queue_serves_this_one() -> None:
    assert why(State.PENDING, worker("w1", "*"), line=Line(0)).code == "next"
    assert why(State.PENDING, worker("w1", "a:3", "*"), line=Line(0)).code == "next"


def test_the_weight_of_a_queue_is_no_part_of_its_name() -> None:
    assert why(State.PENDING, worker("w1", "mail:3", "a"), line=Line(0)).code == "next"
    assert why(State.PENDING, worker("w1", "a:3", "b"), line=Line(0)).sentence.endswith(
        "the 1 worker heard of serves a, b."
    )


def test_queues_that_only_another_version_understands_are_taken_as_written() -> None:
    assert why(State.PENDING, worker("w1", "mail", "a:x"), line=Line(0)).code == "next"


def test_all_workers_of_its_queue_are_busy() -> None:
    idle_elsewhere = worker("w3", "other")
    busy = worker("w1", active=10), worker("w2", active=12), idle_elsewhere
    assert why(State.PENDING, *busy, line=Line(0)) == (
        "busy",
        "All 2 workers of its queue mail seem to have no free slot of 20.",
    )
    assert why(State.PENDING, worker(active=10), line=Line(1)).sentence == (
        "The one worker of its queue mail seems to have no free slot of 10, and 1 pending job is "
        "before it."
    )


def test_jobs_that_are_active_now_tell_more_than_what_the_workers_said_before() -> None:
    assert why(State.PENDING, worker(active=0), line=Line(0), active=9).code == "next"
    assert why(State.PENDING, worker(active=0), line=Line(0), active=10).code == "busy"


def test_jobs_before_it() -> None:
    workers = worker("w1", active=10), worker("w2")
    assert why(State.PENDING, *workers, line=Line(1_234)) == (
        "behind",
        "1,234 pending jobs are before it in its queue mail, which 2 workers serve.",
    )
    assert why(State.PENDING, worker(), line=Line(10_000, more=True)).sentence == (
        "More than 10,000 pending jobs are before it in its queue mail, which 1 worker serves."
    )


def test_the_first_in_line_names_the_worker_to_look_at() -> None:
    code, sentence = why(State.PENDING, worker("w1", active=10), worker("w2"), line=Line(0))
    assert code == "next"
    assert "Nothing that the store knows of holds it back" in sentence
    assert "the log of worker w2" in sentence


def test_a_job_that_left_the_line_meanwhile_is_to_be_asked_for_again() -> None:
    assert why(State.PENDING, worker()).code == "unsure"


ACTIVE = {"worker": "w1", "attempt": 2, "started_at": NOW - MINUTE, "lease_until": NOW + MINUTE}


def test_a_running_job_tells_where_and_since_when() -> None:
    assert why(State.ACTIVE, worker(active=1), **ACTIVE) == (
        "running",
        (
            "It is running: worker w1 has it since 2025-06-15T15:05:40.000Z (1 min ago), attempt 2 "
            "of at most 4."
        ),
    )


def test_a_running_job_tells_how_far_it_is() -> None:
    sentence = why(State.ACTIVE, worker(), **ACTIVE, progress=Progress(12.5, "page 3")).sentence
    assert sentence.endswith("attempt 2 of at most 4, at 12.5 % (page 3).")
    sentence = why(State.ACTIVE, worker(), **ACTIVE, progress=Progress(50)).sentence
    assert sentence.endswith("of at most 4, at 50 %.")


def test_a_worker_with_more_jobs_than_slots_may_let_it_wait() -> None:
    assert why(State.ACTIVE, worker(), **ACTIVE, held=10).sentence.endswith("of at most 4.")
    sentence = why(State.ACTIVE, worker(), **ACTIVE, held=11).sentence
    assert sentence.endswith("; or it waits there for one of 10 slots, which cannot be told.")


def test_a_worker_that_is_not_heard_of_leaves_a_doubt() -> None:
    code, sentence = why(State.ACTIVE, worker("w2"), **ACTIVE)
    assert code == "unsure"
    assert sentence == (
        "Worker w1 took it 1 min ago for attempt 2 of at most 4 and is not heard of: if it is "
        "gone, another one takes over when the lease runs out at 2025-06-15T15:07:40.000Z "
        "(in 1 min)."
    )


def test_an_expired_lease_will_be_rescued_if_there_is_a_worker() -> None:
    lost = ACTIVE | {"lease_until": NOW - 5_000}
    code, sentence = why(State.ACTIVE, worker("w2", "other"), **lost)
    assert code == "lost"
    assert sentence == (
        "Worker w1 has let its lease run out 5 s ago in attempt 2 of at most 4 and is probably "
        "gone: a worker will notice within seconds and decide on a retry."
    )
    assert "no worker is heard of that could rescue it; start one" in (
        why(State.ACTIVE, **lost).sentence
    )


def test_a_job_that_may_wait_for_a_thread_is_told_so() -> None:
    full = replace(worker(active=4), threads=4, in_threads=4)
    assert why(State.PENDING, full, line=Line(0)) == (
        "threads",
        (
            "It is first in line, and its worker w1 can run async handlers only for now: if it is "
            "a blocking one, it waits for one of 4 threads, all of which are taken."
        ),
    )
    two = why(State.PENDING, full, replace(full, id="w2"), line=Line(0))
    assert "its 2 workers can run async handlers only" in two.sentence
    assert why(State.PENDING, full, worker("w2"), line=Line(0)).code == "next"
    assert why(State.PENDING, replace(full, in_threads=3), line=Line(0)).code == "next"
