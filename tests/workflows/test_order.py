"""Who must be stored before whom."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.core.model import NewJob, Spec
from windlass.errors import InvalidOption
from windlass.workflows.order import in_order, refuse_disorder

EDGES = st.sets(st.tuples(st.integers(0, 9), st.integers(0, 9)).filter(lambda e: e[0] < e[1]))


def job(id: str, *parents: str) -> NewJob:
    return NewJob(id, Spec("t", b"", parents=parents))


@given(EDGES)
def test_everything_comes_after_its_parents(edges: set[tuple[int, int]]) -> None:
    parents = {n: {before for before, after in edges if after == n} for n in reversed(range(10))}
    order = in_order(parents)
    assert sorted(order) == list(range(10))
    assert all(order.index(before) < order.index(after) for before, after in edges)


def test_a_cycle_is_shown_in_the_order_in_which_it_would_run() -> None:
    with pytest.raises(InvalidOption) as caught:
        in_order({"a": ["c"], "b": ["a"], "c": ["b"], "d": ["c"]})
    shown = str(caught.value).removesuffix(".").partition("run: ")[2].split(" -> ")
    assert shown[0] == shown[-1]
    assert all(step in ("ab", "bc", "ca") for step in map("".join, itertools.pairwise(shown)))


def test_a_long_cycle_is_cut() -> None:
    circle = {n: [(n + 1) % 1000] for n in range(1000)}
    with pytest.raises(InvalidOption, match="… -> ") as caught:
        in_order(circle)
    assert len(str(caught.value)) < 150


def test_a_long_chain_is_no_burden() -> None:
    assert len(in_order({n: [n - 1] if n else [] for n in range(20_000)})) == 20_000


def test_parents_outside_of_the_call_do_not_matter() -> None:
    refuse_disorder([job("a", "elsewhere"), job("b", "a")])


def test_two_jobs_of_one_call_with_one_id_are_no_disorder() -> None:
    refuse_disorder([job("a"), job("b", "a"), job("b", "a")])
