"""From what an attempt came to, to the one move that follows."""

from datetime import UTC, datetime, timedelta
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.core.model import NEVER, Failure, Job, Spec, Transition
from windlass.core.outcome import (
    LONGEST_UNKNOWN,
    LOST,
    SHORTEST_UNKNOWN,
    UNKNOWN,
    Expired,
    Failed,
    Lost,
    Outcome,
    Parked,
    Released,
    Snoozed,
    Succeeded,
    Unknown,
    decide,
    outcome_of,
)
from windlass.core.retry import Delays, Fixed, RetryPolicy
from windlass.core.states import AFTER_ACTIVE, State
from windlass.errors import AttemptParked, Fatal, Retry, Snooze

BOOM = Failure("ValueError", "boom")
EXACT = RetryPolicy(Delays([1, 10, 100]), jitter=0)
attempts = st.integers(1, 10)
limits = st.integers(0, 10)
outcomes: st.SearchStrategy[Outcome] = st.one_of(
    st.builds(Succeeded, st.none() | st.binary(max_size=5)),
    st.builds(Failed, st.just(BOOM), after=st.none() | st.floats(0, 1e6), fatal=st.booleans()),
    st.builds(Snoozed, st.integers(0, 10**9), st.none() | st.integers(0, 10**13)),
    st.builds(Parked, st.just("go"), st.none() | st.integers(0, 10**9)),
    st.just(Lost()),
    st.builds(Released, st.integers(0, 10**9)),
    st.builds(Unknown, st.integers(0, 10**9)),
    st.just(Expired()),
)


def active(attempt: int = 1, max_retries: int = 3) -> Job:
    spec = Spec("work", b"", max_retries=max_retries)
    return Job("j", spec, "mail", State.ACTIVE, 50, 0, 0, attempt, fence=7, ref=3)


def to(state: State, **rest: Any) -> Transition:
    """The transition of that job, with all that its store gave for a short cut."""
    return Transition("j", 7, state, queue="mail", ref=3, **rest)


def test_success_completes_with_its_result() -> None:
    assert decide(active(), Succeeded(b"42")) == to(State.COMPLETED, result=b"42")
    assert decide(active(attempt=99), Succeeded()).state is State.COMPLETED


@pytest.mark.parametrize(("attempt", "delay"), [(1, 1_000), (2, 10_000), (3, 100_000)])
def test_a_failure_with_retries_left_waits_as_the_policy_says(attempt: int, delay: int) -> None:
    move = decide(active(attempt, max_retries=3), Failed(BOOM), EXACT)
    assert move == to(State.RETRY, delay=delay, error=BOOM)


@given(attempt=attempts, limit=limits)
def test_a_job_runs_once_and_then_once_for_each_retry(attempt: int, limit: int) -> None:
    state = decide(active(attempt, limit), Failed(BOOM), EXACT).state
    assert state is (State.RETRY if attempt <= limit else State.DEAD)


def test_without_retries_the_first_failure_is_the_end() -> None:
    move = decide(active(1, max_retries=0), Failed(BOOM), EXACT)
    assert move == to(State.DEAD, error=BOOM)


def test_a_fatal_failure_ends_the_job_whatever_retries_are_left() -> None:
    move = decide(active(1, max_retries=99), Failed(BOOM, fatal=True), EXACT)
    assert move == to(State.DEAD, error=BOOM)


def test_a_wait_that_the_handler_chose_wins_over_the_policy_and_is_not_jittered() -> None:
    jittery = RetryPolicy(Fixed(500), jitter=1)
    move = decide(active(), Failed(BOOM, after=2.5), jittery, lambda: 0.9)
    assert (move.state, move.delay, move.refund) == (State.RETRY, 2_500, False)
    assert decide(active(), Failed(BOOM, after=0), jittery).delay == 0


def test_a_chosen_wait_gives_no_further_retry() -> None:
    assert decide(active(4, max_retries=3), Failed(BOOM, after=1), EXACT).state is State.DEAD


def losing(lost: int, attempt: int = 1, max_retries: int = 3) -> Job:
    """An active job whose worker is gone, as were so many before."""
    return msgspec.structs.replace(active(attempt, max_retries), lost=lost)


@pytest.mark.parametrize("attempt", [1, 2, 4])
def test_a_lost_worker_costs_no_attempt(attempt: int) -> None:
    move = decide(losing(0, attempt), Lost(), EXACT)
    assert move == to(State.RETRY, delay=0, error=LOST, refund=True, lost=1)


@pytest.mark.parametrize(("before", "delay"), [(0, 0), (1, 10_000)])
def test_the_first_loss_is_followed_by_a_run_at_once_and_others_wait(
    before: int, delay: int
) -> None:
    assert decide(losing(before), Lost(), EXACT).delay == delay


def test_a_job_is_dead_with_the_third_worker_that_is_lost_in_a_row() -> None:
    move = decide(losing(2), Lost(), EXACT)
    assert (move.state, move.refund, move.lost) == (State.DEAD, True, 3)
    assert move.error is not None
    assert move.error.kind == LOST.kind
    assert move.error.message.startswith("its worker was lost 3 times in a row while it ran")


@given(retries=limits, before=st.integers(0, 200))
def test_as_many_workers_may_be_lost_as_there_are_retries_if_that_is_more(
    retries: int, before: int
) -> None:
    state = decide(losing(before, max_retries=retries), Lost(), EXACT).state
    bound = max(3, retries) if retries else 1
    assert state is (State.DEAD if before + 1 >= bound else State.RETRY)


def test_without_retries_a_job_is_not_run_again_after_a_loss() -> None:
    move = decide(losing(0, max_retries=0), Lost(), EXACT)
    assert move.state is State.DEAD
    assert move.error is not None
    assert move.error.message.startswith("its worker was lost once while it ran")


def test_an_attempt_that_ended_by_itself_forgives_the_workers_that_were_lost() -> None:
    for outcome in (Failed(BOOM), Failed(BOOM, fatal=True), Snoozed(delay=1), Parked("s")):
        assert decide(losing(2), outcome, EXACT).lost == 0


def test_an_attempt_that_never_was_one_forgives_nothing() -> None:
    for outcome in (Released(), Released(1_000), Unknown(), Expired()):
        assert decide(losing(2), outcome, EXACT).lost == 2


def test_a_lost_lease_asks_the_policy_without_an_error() -> None:
    seen: list[BaseException | None] = []

    class Watching:
        def delay(self, n: int, error: BaseException | None = None) -> float:
            seen.append(error)
            return n

    assert decide(losing(1), Lost(), RetryPolicy(Watching(), jitter=0)).delay == 2_000
    assert seen == [None]


def test_a_lost_lease_is_never_fatal_by_rule() -> None:
    nothing = RetryPolicy(Fixed(1), retry_on=(), fatal_on=(BaseException,))
    assert decide(active(1), Lost(), nothing).state is State.RETRY


def test_a_snooze_waits_and_gives_the_attempt_back() -> None:
    move = decide(active(), Snoozed(delay=60_000))
    assert move == to(State.SCHEDULED, delay=60_000, refund=True)
    move = decide(active(), Snoozed(due=1_800_000_000_000))
    assert (move.state, move.due, move.refund) == (State.SCHEDULED, 1_800_000_000_000, True)


def test_a_release_gives_the_attempt_back_and_waits_only_if_it_was_asked_to() -> None:
    assert decide(active(), Released()) == to(State.PENDING, refund=True)
    later = decide(active(), Released(delay=5_000))
    assert later == to(State.SCHEDULED, delay=5_000, refund=True)


@given(outcome=outcomes, attempt=attempts, limit=limits)
def test_every_outcome_leads_to_a_legal_move_of_the_same_claim(
    outcome: Outcome, attempt: int, limit: int
) -> None:
    move = decide(active(attempt, limit), outcome)
    assert (move.id, move.fence) == ("j", 7)
    assert move.state in AFTER_ACTIVE
    waits = isinstance(outcome, Unknown) and move.state is State.SCHEDULED
    assert move.refund is (waits or isinstance(outcome, (Snoozed, Parked, Released, Expired, Lost)))
    assert (move.error is not None) is isinstance(outcome, (Failed, Lost, Unknown, Expired))
    assert move.delay >= 0


@given(naps=st.integers(0, 50), limit=st.integers(0, 3))
def test_snoozing_any_number_of_times_never_kills_a_job(naps: int, limit: int) -> None:
    """A claim adds an attempt and a snooze gives it back: the retries are all still there."""
    attempt = 0
    for _ in range(naps):
        move = decide(active(attempt + 1, limit), Snoozed(delay=1))
        assert move.state is State.SCHEDULED
        attempt = attempt + 1 - move.refund
    failures = 0
    while decide(active(attempt + 1, limit), Failed(BOOM), EXACT).state is State.RETRY:
        attempt += 1
        failures += 1
    assert failures == limit


def test_a_parked_job_waits_for_its_signal_or_its_time() -> None:
    move = decide(active(), Parked("go", 60_000))
    assert move == to(State.SCHEDULED, delay=60_000, refund=True, awaits="go")
    for_ever = decide(active(), Parked("go"))
    assert for_ever == to(State.SCHEDULED, due=NEVER, refund=True, awaits="go")
    assert outcome_of(AttemptParked("go", 7), EXACT) == Parked("go", 7)


def test_a_wait_in_a_task_group_parks_unless_something_else_went_wrong() -> None:
    waits = [AttemptParked("a"), BaseExceptionGroup("inner", [AttemptParked("b")])]
    assert outcome_of(BaseExceptionGroup("outer", waits), EXACT) == Parked("a")
    mixed = BaseExceptionGroup("outer", [*waits, ValueError("boom")])
    assert isinstance(outcome_of(mixed, EXACT), Failed)


def test_no_outcome_is_forgotten_here() -> None:
    assert set(get_args(Outcome)) == {
        *(Succeeded, Failed, Snoozed, Parked, Lost, Released, Unknown, Expired)
    }
    assert msgspec.structs.fields(Lost) == ()


def test_a_failure_tells_when_its_attempt_began() -> None:
    job = msgspec.structs.replace(active(), started_at=1_700_000_000_000)
    for outcome in (Failed(BOOM), Failed(BOOM, fatal=True), Lost()):
        error = decide(job, outcome, EXACT).error
        assert error is not None and error.at == 1_700_000_000_000


class TestUnknownTask:
    START = 1_700_000_000_000
    PATIENCE = 3_600_000

    def seen(self, after: int, error: Failure | None) -> Transition:
        """What becomes of the job when a worker that does not know it claims it."""
        job = msgspec.structs.replace(active(), started_at=self.START + after, error=error)
        return decide(job, Unknown(self.PATIENCE))

    def test_it_waits_a_little_and_keeps_its_attempt(self) -> None:
        move = self.seen(0, None)
        assert (move.state, move.refund, move.delay) == (State.SCHEDULED, True, SHORTEST_UNKNOWN)
        assert move.error is not None
        assert (move.error.kind, move.error.at) == (UNKNOWN, self.START)
        assert "has no task work" in move.error.message

    def test_the_longer_it_is_unknown_the_longer_it_waits(self) -> None:
        first = Failure(UNKNOWN, "", at=self.START)
        waits = {after: self.seen(after, first).delay for after in (1_000, 20_000, 600_000)}
        assert waits == {1_000: SHORTEST_UNKNOWN, 20_000: 10_000, 600_000: LONGEST_UNKNOWN}

    def test_another_error_before_does_not_count_as_unknown(self) -> None:
        move = self.seen(self.PATIENCE, Failure("ValueError", "boom", at=self.START))
        assert move.state is State.SCHEDULED
        assert move.error is not None and move.error.at == self.START + self.PATIENCE

    def test_with_no_patience_left_it_is_dead_and_says_what_to_do(self) -> None:
        first = Failure(UNKNOWN, "", at=self.START)
        assert self.seen(self.PATIENCE - 1, first).state is State.SCHEDULED
        move = self.seen(self.PATIENCE, first)
        assert (move.state, move.refund) == (State.DEAD, False)
        assert str(move.error) == (
            "UnknownTask: no worker has known the task work for 3600 s; "
            "start one that does and replay the job"
        )

    def test_after_a_replay_it_is_waited_for_anew(self) -> None:
        dead = self.seen(self.PATIENCE, Failure(UNKNOWN, "", at=self.START))
        assert self.seen(10 * self.PATIENCE, dead.error).state is State.SCHEDULED

    def test_a_worker_that_knew_it_meanwhile_and_was_asked_to_wait_renews_the_patience(
        self,
    ) -> None:
        first = self.seen(0, None).error
        job = msgspec.structs.replace(active(), started_at=self.START + 1_000, error=first)
        snoozed = decide(job, Snoozed(delay=86_400_000))
        assert self.seen(86_401_000, snoozed.error).state is State.SCHEDULED

    def test_an_hour_of_it_is_a_bounded_number_of_claims(self) -> None:
        after, error, claims = 0, None, 0
        while (move := self.seen(after, error)).state is State.SCHEDULED:
            after, error, claims = after + move.delay, move.error, claims + 1
        assert after >= self.PATIENCE
        assert claims < 80


class TestOutcomeOfAnError:
    def test_an_ordinary_error_is_a_failure_with_its_text(self) -> None:
        error = ValueError("boom")
        outcome = outcome_of(error, RetryPolicy())
        assert isinstance(outcome, Failed)
        assert (outcome.failure.kind, outcome.failure.message) == ("ValueError", "boom")
        assert (outcome.cause, outcome.after, outcome.fatal) == (error, None, False)

    def test_the_rules_of_the_policy_are_asked(self) -> None:
        policy = RetryPolicy(fatal_on=(KeyError,))
        assert outcome_of(KeyError("x"), policy).fatal  # type: ignore[union-attr]

    def test_fatal_is_a_fatal_failure(self) -> None:
        outcome = outcome_of(Fatal("bad address"), RetryPolicy())
        assert isinstance(outcome, Failed)
        assert outcome.fatal
        assert str(outcome.failure) == "Fatal: bad address"

    @pytest.mark.parametrize("after", [30, 30.0, timedelta(seconds=30)])
    def test_retry_carries_its_wait(self, after: float | timedelta) -> None:
        outcome = outcome_of(Retry(after=after), RetryPolicy())
        assert isinstance(outcome, Failed)
        assert (outcome.after, outcome.fatal) == (30.0, False)

    def test_retry_without_a_wait_leaves_it_to_the_policy(self) -> None:
        outcome = outcome_of(Retry("not yet"), RetryPolicy())
        assert decide(active(2), outcome, EXACT).delay == 10_000

    def test_snooze_for_some_time(self) -> None:
        assert outcome_of(Snooze(1.5), RetryPolicy()) == Snoozed(delay=1_500)
        assert outcome_of(Snooze(timedelta(minutes=1)), RetryPolicy()) == Snoozed(delay=60_000)
        assert outcome_of(Snooze(0), RetryPolicy()) == Snoozed(delay=0)

    def test_snooze_until_a_moment(self) -> None:
        moment = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)
        due = int(moment.timestamp() * 1000)
        assert outcome_of(Snooze(until=moment), RetryPolicy()) == Snoozed(due=due)

    def test_snooze_is_no_failure_even_if_the_rules_call_it_fatal(self) -> None:
        strict = RetryPolicy(retry_on=(), fatal_on=(Exception,))
        assert outcome_of(Snooze(1), strict) == Snoozed(delay=1_000)
