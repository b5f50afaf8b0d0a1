"""What attempts came to, on its way to the store."""

from hypothesis import given
from hypothesis import strategies as st

from windlass.core.model import Transition
from windlass.core.states import State
from windlass.worker.acker import once_each

MOVES = st.lists(
    st.builds(Transition, st.sampled_from("abcde"), st.integers(1, 3), st.just(State.COMPLETED))
)


@given(MOVES)
def test_no_call_ends_two_attempts_of_a_job_and_none_is_passed_over(
    moves: list[Transition],
) -> None:
    left, written = moves, []
    while left:
        batch = once_each(left)
        ids = [move.id for move in batch]
        assert 0 < len(ids) == len(set(ids))
        written += batch
        left = left[len(batch) :]
    assert written == moves
