"""What a rate allows: never more than it says in any time, and in the long run no less."""

from hypothesis import given
from hypothesis import strategies as st

from windlass.core.lane import Lane
from windlass.limits.rate import PARTS, Log, idle_at, interval, opens_at, started, tokens

NOW = 1_700_000_000_000

buckets = st.builds(
    Lane,
    st.just("r"),
    starts=st.integers(1, 1_000),
    per=st.sampled_from([1, 100, 1_000, 60_000, 3_600_000]),
    burst=st.integers(1, 50),
)
windows = st.builds(
    Lane,
    st.just("w"),
    starts=st.integers(1, 20),
    per=st.sampled_from([1, 10, 1_000, 60_000]),
)
pauses = st.lists(st.integers(0, 5_000), min_size=1, max_size=60)


def greedy(lane: Lane, pauses: list[int]) -> list[tuple[int, int]]:
    """Start all that may start, after each pause: when, and how many."""
    now, full_at = NOW, 0
    log: Log = ()
    starts = []
    for pause in pauses:
        now += pause
        number = tokens(lane, full_at, log, now)
        if number:
            full_at, log = started(lane, full_at, log, now, number)
        starts.append((now, number))
    return starts


@given(buckets, pauses)
def test_no_time_sees_more_starts_than_tokens_and_burst(lane: Lane, pauses: list[int]) -> None:
    starts = greedy(lane, pauses)
    for first, (begin, _) in enumerate(starts):
        for last in range(first, len(starts)):
            length = (starts[last][0] - begin) * 1000
            number = sum(number for _, number in starts[first : last + 1])
            assert number <= lane.burst + length // interval(lane)


@given(windows, pauses)
def test_no_window_sees_more_starts_than_its_number(lane: Lane, pauses: list[int]) -> None:
    starts = greedy(lane, pauses)
    for begin, _ in starts:
        within = [number for when, number in starts if begin <= when < begin + lane.per]
        assert sum(within) <= lane.starts


@given(windows, pauses)
def test_a_window_is_free_again_a_fiftieth_after_its_end_at_the_latest(
    lane: Lane, pauses: list[int]
) -> None:
    for pause in pauses:
        full_at, log = started(lane, 0, (), NOW + pause, lane.starts)
        assert tokens(lane, full_at, log, NOW + pause) == 0
        late = NOW + pause + lane.per + max(1, lane.per // PARTS)
        assert tokens(lane, full_at, log, late) == lane.starts


@given(st.one_of(buckets, windows), pauses)
def test_the_moment_that_is_told_is_the_first_at_which_one_may_start(
    lane: Lane, pauses: list[int]
) -> None:
    now, full_at = NOW, 0
    log: Log = ()
    for pause in pauses:
        now += pause
        number = tokens(lane, full_at, log, now)
        if number:
            full_at, log = started(lane, full_at, log, now, number)
            moment = opens_at(lane, full_at, log, now)
            if moment > now:
                assert tokens(lane, full_at, log, moment - 1) == 0
            assert tokens(lane, full_at, log, moment) >= 1
            now = moment


@given(st.one_of(buckets, windows), pauses)
def test_an_idle_rate_is_as_good_as_a_new_one(lane: Lane, pauses: list[int]) -> None:
    now, full_at = NOW, 0
    log: Log = ()
    for pause in pauses:
        now += pause
        full_at, log = started(lane, full_at, log, now, 1)
    moment = idle_at(lane, full_at, log, now)
    assert tokens(lane, full_at, log, moment) == tokens(lane, 0, (), moment)


@given(windows, st.integers(1, 300))
def test_the_log_of_a_window_stays_short(lane: Lane, number: int) -> None:
    log: Log = ()
    for n in range(number):
        _, log = started(lane, 0, log, NOW + n * max(1, lane.per // 97), 1)
        assert len(log) <= PARTS + 10
