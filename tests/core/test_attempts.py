"""Records of attempts: read as they were written, by this version and the next."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from windlass.core.attempts import (
    MOST_ATTEMPTS,
    AttemptRecord,
    LogLine,
    decode_attempt,
    encode_attempt,
    newest,
)
from windlass.core.model import Failure
from windlass.core.states import State

times = st.integers(0, 2**53)
texts = st.text(max_size=20)
records = st.builds(
    AttemptRecord,
    st.sampled_from(["a", "b"]),
    texts,
    st.integers(0, 100),
    st.integers(0, 9),
    texts,
    times,
    st.none() | times,
    st.none() | st.sampled_from(sorted(State)),
    st.none() | st.builds(Failure, texts, texts, texts, times),
    st.lists(st.builds(LogLine, times, texts, texts, texts), max_size=3).map(tuple),
    st.integers(0, 9),
)


@given(records)
def test_a_record_is_read_as_it_was_written(record: AttemptRecord) -> None:
    assert decode_attempt(encode_attempt(record)) == record


def test_a_damaged_record_is_none() -> None:
    whole = encode_attempt(AttemptRecord("a", "mail", 1, 1, "w", 1))
    for damaged in (b"", b"\xc1", whole[:-3], msgspec.msgpack.encode(["a", 1])):
        assert decode_attempt(damaged) is None


def test_a_record_of_the_next_version_is_read() -> None:
    fields = [*msgspec.structs.astuple(AttemptRecord("a", "mail", 1, 1, "w", 1)), "newer"]
    assert decode_attempt(msgspec.msgpack.encode(fields)) == AttemptRecord(
        "a", "mail", 1, 1, "w", 1
    )


@given(st.lists(records, max_size=80))
def test_of_a_call_the_last_of_each_fence_may_stay_and_so_many_of_a_job(
    given: list[AttemptRecord],
) -> None:
    found = newest(given)
    assert set(found) == {each.id for each in given}
    for id, kept in found.items():
        fences = sorted({each.fence for each in given if each.id == id})
        assert [each.fence for each in kept] == fences[-MOST_ATTEMPTS:]
        for each in kept:
            last = [one for one in given if (one.id, one.fence) == (id, each.fence)][-1]
            assert each is last
