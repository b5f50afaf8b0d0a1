"""What the model test draws: few ids, keys and queues, so that they meet again and again."""

from __future__ import annotations

import msgspec
from hypothesis import strategies as st

from ..core.lane import Lane
from ..core.model import NewJob, Spec, Transition
from ..core.outcome import Failed, Lost, Outcome, Parked, Released, Snoozed, Succeeded
from ..core.schedule import Schedule
from ..core.states import AFTER_ACTIVE
from ..core.unique import UNTIL_FINISHED, UNTIL_STARTED
from .jobs import BOOM

replace = msgspec.structs.replace

IDS = tuple("abcdef")
QUEUES = ("q1", "q2", "q3")
SIGNALS = ("s", "t")
WORKERS = ("w1", "w2", "w3")

LANES: list[Lane | None] = [
    Lane("slots", slots=1),
    Lane("slots", slots=2),
    Lane("slots", slots=2),
    Lane("sequence", slots=1, strict=True),
    Lane("sequence", slots=1, strict=True),
    Lane("tokens", starts=1, per=1_000, burst=2),
    Lane("tokens", slots=2, starts=3, per=1_000, burst=1),
    Lane("window", starts=2, per=5_000),
    Lane("batch", size=2, grace=1_000, longest=5_000),
    Lane("batch", size=3, grace=5_000, longest=5_000),
]

durations = st.sampled_from([0, 1, 1_000, 5_000, 60_000])
leases_for = st.sampled_from([1_000, 5_000, 30_000])
offsets = st.none() | st.sampled_from([-1_000, 0, 1, 5_000])
"""Of a moment from now; None for no moment at all."""
some_ids = st.lists(st.sampled_from(IDS), min_size=1, max_size=4)
specs = st.builds(
    Spec,
    st.sampled_from(["t1", "t2"]),
    st.binary(max_size=3),
    max_retries=st.sampled_from([0, 1, 3]),
    keep=st.sampled_from([0, 1_000, 60_000]),
    parents=st.sampled_from([(), (), (), (), ("a",), ("b",), ("c", "d"), ("e",)]),
    runs_anyway=st.booleans(),
    unique_for=st.sampled_from([UNTIL_FINISHED, UNTIL_FINISHED, UNTIL_STARTED, 5_000]),
    lane=st.sampled_from([None] * 5 + LANES),
    group=st.sampled_from(["", "g", "h"]),
    weight=st.sampled_from([1, 1, 3]),
).map(lambda spec: replace(spec, keep=60_000) if spec.unique_for > 0 else spec)
"""A job outlasts its window here: which former job of an id took one, a store need not know."""
SCHEDULES = ("s1", "s2")
some_schedules = st.builds(
    Schedule,
    st.sampled_from(SCHEDULES),
    st.just("@every 1s"),
    st.builds(Spec, st.just("t1"), st.binary(max_size=2), keep=st.sampled_from([0, 60_000])),
    queue=st.sampled_from(["q1", "q2"]),
    priority=st.sampled_from([50, 100]),
    overlap=st.sampled_from(["allow", "skip", "queue"]),
)
new_jobs = st.builds(
    NewJob,
    st.sampled_from(IDS),
    specs,
    queue=st.sampled_from(["q1", "q1", "q2", "q3"]),
    priority=st.sampled_from([50, 50, 0, 100]),
    delay=st.sampled_from([0, 0, 1, 5_000]),
    due=st.sampled_from([None, None, -1_000, 0, 5_000]),
    unique=st.sampled_from([None, None, "u", "v"]),
    conflict=st.sampled_from(["reject", "reject", "replace", "last"]),
)
"""`due` is from now and not from 1970 until the machine has added the present."""
outcomes: st.SearchStrategy[Outcome] = st.one_of(
    st.builds(Succeeded, st.sampled_from([None, b"", b"r"])),
    st.builds(Failed, st.just(BOOM), after=st.sampled_from([None, 0.0, 3.0]), fatal=st.booleans()),
    st.builds(Snoozed, durations),
    st.builds(Parked, st.sampled_from(SIGNALS), st.sampled_from([None, 0, 5_000])),
    st.builds(Released, st.sampled_from([0, 0, 1_000])),
    st.just(Lost()),
)
raw_moves = st.builds(
    Transition,
    st.just(""),
    st.just(0),
    st.sampled_from(sorted(AFTER_ACTIVE)),
    delay=durations,
    due=offsets,
    error=st.sampled_from([None, BOOM]),
    refund=st.booleans(),
    lost=st.sampled_from([0, 0, 1, 300]),
).map(lambda move: replace(move, lost=0) if move.error is None else move)
"""Moves that no outcome of today leads to and the contract allows; `due` as above."""
Pick = tuple[str, int]
"""One of the grants that still hold, or of the late ones, by number."""
MAX_PICKS = 3
picks = st.lists(
    st.tuples(st.sampled_from(["held", "held", "late"]), st.integers(0, 7)),
    min_size=1,
    max_size=MAX_PICKS,
)
queue_caps = st.lists(
    st.tuples(st.sampled_from(QUEUES), st.integers(1, 4)),
    min_size=1,
    max_size=3,
    unique_by=lambda pair: pair[0],
).map(dict)
