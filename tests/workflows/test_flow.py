"""Chains, groups, chords and graphs as jobs: who waits for whom, and whose result goes where."""

from typing import Any

import pytest

from windlass import Dag, Task, Windlass, chain, chord, group
from windlass.core.step import Part
from windlass.errors import InvalidArguments, InvalidOption, UsageError
from windlass.workflows.flow import plan
from windlass.workflows.outline import outline


@pytest.fixture
def app() -> Windlass:
    app = Windlass("memory://")

    @app.task
    def start(n: int = 0) -> int:
        return n

    @app.task
    def twice(n: int) -> int:
        return 2 * n

    @app.task
    def total(numbers: list[int]) -> int:
        return sum(numbers)

    @app.task
    def both(a: int, b: int, c: int = 0) -> int:
        return a + b + c

    @app.task
    def alone() -> None: ...

    return app


class Steps:
    """The tasks of the app by their names."""

    def __init__(self, app: Windlass) -> None:
        self._app = app

    def __getattr__(self, name: str) -> Task[..., Any, Any]:
        return self._app.tasks[name]


@pytest.fixture
def t(app: Windlass) -> Steps:
    return Steps(app)


def shape(part: Part[Any]) -> list[tuple[str, tuple[str, ...], int, bool]]:
    """Task, parents, number of inputs and whether they are one list, for each job."""
    made = outline(plan(part), "w", None, None, fresh=True)
    return [
        (job.spec.task, tuple(p[2:] for p in job.spec.parents), job.spec.inputs, job.spec.gathers)
        for job in made.members
    ]


def test_a_chain_hands_each_result_on(t: Steps) -> None:
    assert shape(chain(t.start.step(1), t.twice.step(), t.twice.step())) == [
        ("start", (), 0, False),
        ("twice", ("1",), 1, False),
        ("twice", ("2",), 1, False),
    ]


def test_a_single_step_is_a_workflow(t: Steps) -> None:
    assert shape(t.start.step(1)) == [("start", (), 0, False)]


def test_a_group_waits_for_nothing(t: Steps) -> None:
    planned = plan(group(t.start.step(1), t.start.step(2)))
    assert planned.ends.gathers
    assert planned.ends.nodes == planned.leaves == planned.nodes


def test_a_chord_gathers_in_order(t: Steps) -> None:
    flow = chord(group(*(t.start.step(n) for n in range(3))), t.total.step())
    assert shape(flow)[3] == ("total", ("1", "2", "3"), 3, True)


def test_groups_within_a_chain_each_get_what_came_before(t: Steps) -> None:
    flow = chain(t.start.step(), group(t.twice.step(), t.twice.step()), t.total.step())
    assert shape(flow)[1:] == [
        ("twice", ("1",), 1, False),
        ("twice", ("1",), 1, False),
        ("total", ("2", "3"), 2, True),
    ]


@pytest.mark.parametrize("kind", ["chain", "group", "chord"])
def test_a_loop_can_put_flows_into_each_other_as_deep_as_it_likes(t: Steps, kind: str) -> None:
    flow: Any = t.start.step(1)
    for _ in range(2_000):
        if kind == "chain":
            flow = chain(flow, t.twice.step())
        elif kind == "group":
            flow = group(flow, t.start.step(1))
        else:
            flow = chord(group(flow), t.total.step())
    laid = plan(flow)
    assert len(laid.nodes) == 2_001
    assert len(laid.leaves) == (2_001 if kind == "group" else 1)


def test_what_a_deep_flow_puts_in_front_is_held_to_its_arguments(t: Steps) -> None:
    flow: Any = t.twice.step()
    for _ in range(2_000):
        flow = chain(flow, t.twice.step())
    assert len(plan(chain(t.start.step(1), flow)).nodes) == 2_002
    with pytest.raises(InvalidArguments):
        plan(flow)


def test_chains_within_a_group_are_its_members(t: Steps) -> None:
    flow = chord(group(chain(t.start.step(), t.twice.step()), t.start.step()), t.total.step())
    names = [task for task, *_ in shape(flow)]
    assert sorted(names) == ["start", "start", "total", "twice"]
    assert shape(flow)[-1][2:] == (2, True)


def test_a_step_can_be_used_again(t: Steps) -> None:
    step = t.twice.step()
    assert len(shape(chain(t.start.step(), step, step))) == 3


def test_a_graph_says_what_chains_cannot(t: Steps) -> None:
    dag = Dag()
    a, b = dag.add(t.start.step(1)), dag.add(t.start.step(2))
    c = dag.add(t.both.step(7), takes=[b, a])
    d = dag.add(t.alone.step(), after=[a, c])
    e = dag.add(t.total.step(), gathers=[a, b])
    dag.order(d, e)
    made = shape(dag.flow(c))
    assert ("both", ("2", "1"), 2, False) in made
    assert made[-1] == ("total", ("1", "2", "4"), 2, True)
    assert plan(dag.flow(c)).leaves == [e]


def test_a_cycle_is_told_where_it_is_made(t: Steps) -> None:
    dag = Dag()
    a = dag.add(t.start.step())
    b = dag.add(t.twice.step(), takes=a)
    with pytest.raises(InvalidOption, match="could never run: start -> twice -> start"):
        dag.order(b, a)
    assert [node.parents for node in dag.nodes] == [[], [a]]


@pytest.mark.parametrize("number", [0, 2])
def test_arguments_must_leave_room_for_what_flows_in(t: Steps, number: int) -> None:
    with pytest.raises(InvalidArguments):
        chain(t.start.step(), t.twice.step(*range(number)) if number else t.alone.step())


def test_the_first_step_must_have_all_its_arguments(t: Steps) -> None:
    with pytest.raises(InvalidArguments, match="missing a required argument: 'n'"):
        plan(chain(t.twice.step(), t.twice.step()))


def test_what_can_never_fit_is_told_by_the_step(t: Steps) -> None:
    with pytest.raises(InvalidArguments, match="unexpected keyword argument 'x'"):
        t.twice.step(x=1)
    with pytest.raises(InvalidArguments, match="too many positional"):
        t.twice.step(1, 2)


@pytest.mark.parametrize("options", [{"id": "x"}, {"unique": "u"}, {"connection": object()}])
def test_a_step_has_no_id_of_its_own(t: Steps, options: dict[str, Any]) -> None:
    with pytest.raises(InvalidOption, match="A step of start cannot have id, unique or conn"):
        t.start.using(**options).step()


def test_what_is_no_part_is_refused(t: Steps) -> None:
    wrong: Any = t.start
    for make in (chain, group):
        with pytest.raises(InvalidOption, match=r"made of task\.step"):
            make(wrong)
        with pytest.raises(InvalidOption, match="needs at least one step"):
            make()  # type: ignore[call-overload]
    with pytest.raises(InvalidOption, match="A graph needs at least one step"):
        Dag().flow()


def test_nodes_of_another_graph_are_refused(t: Steps) -> None:
    dag, other = Dag(), Dag()
    node = other.add(t.start.step())
    dag.add(t.start.step())
    for act in (
        lambda: dag.add(t.twice.step(), takes=node),
        lambda: dag.order(node),
        lambda: dag.flow(node),
    ):
        with pytest.raises(InvalidOption, match="is not in this graph"):
            act()


def test_a_graph_can_only_come_first(t: Steps) -> None:
    dag = Dag()
    flow = dag.flow(dag.add(t.start.step()))
    assert len(shape(chain(flow, t.twice.step()))) == 2
    with pytest.raises(InvalidOption, match="can only be the first part"):
        chain(t.start.step(), flow)


def test_a_result_is_taken_once_and_in_one_way(t: Steps) -> None:
    dag = Dag()
    a = dag.add(t.start.step())
    with pytest.raises(InvalidOption, match="once"):
        dag.add(t.both.step(), takes=[a, a])
    with pytest.raises(InvalidOption, match="not both"):
        dag.add(t.both.step(), takes=a, gathers=[a])


def test_options_of_a_step_stay_and_it_is_kept_for_a_day_at_least(t: Steps) -> None:
    quick = t.start.using(keep=0, queue="q", priority=9, orphaned="run").step()
    long = t.start.using(keep=200_000).step()
    first, second = outline(plan(group(quick, long)), "w", None, None, fresh=False).members
    assert (first.id, second.id, first.fresh) == ("w.1", "w.2", False)
    assert (first.queue, first.priority, first.spec.runs_anyway) == ("q", 9, True)
    assert (first.spec.keep, second.spec.keep) == (86_400_000, 200_000_000)
    assert first.spec.workflow == "w"


async def test_a_handle_without_its_flow_knows_no_nodes(app: Windlass, t: Steps) -> None:
    handle = await app.aenqueue_workflow(chain(t.start.step(), last := t.twice.step()))
    assert handle.handle(last).id == f"{handle.id}.2"
    with pytest.raises(InvalidOption, match="is not in this workflow"):
        handle.handle(t.alone.step())
    with pytest.raises(UsageError, match="Only the handle that enqueuing returned"):
        app.workflow(handle.id).handle(last)
