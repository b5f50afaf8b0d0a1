# mypy: ignore-errors
"""Results flow from step to step, and type checkers see that they fit."""

from typing import assert_type

from windlass import (
    Context,
    Dag,
    Flow,
    JobHandle,
    Link,
    Node,
    Step,
    Windlass,
    WorkflowHandle,
    chain,
    chord,
    group,
)

app = Windlass("memory://")


@app.task
def start(n: int) -> int:
    return n


@app.task
async def shown(n: int, digits: int = 0) -> str:
    return f"{n:.{digits}f}"


@app.task
def total(numbers: list[int]) -> float:
    return sum(numbers)


@app.task
def alone() -> None: ...


@app.task(context=True)
async def spread(ctx: Context, n: int) -> str:
    first = await ctx.workflow.aadd(start.step(1))
    return await ctx.workflow.aadd(total.step(), gathers=[first], after=ctx.job)


# -- steps --
assert_type(start.step(1), Step[int])
assert_type(start.step(), Link[int, int])
assert_type(shown.step(digits=2), Link[int, str])
assert_type(shown.step(1, 2), Step[str])
assert_type(alone.step(), Step[None])
assert_type(spread.step(), Link[int, str])
start.step("x")  # expect: call-overload / reportArgumentType
shown.step(digit=1)  # expect: call-overload / reportCallIssue
alone.step(1)  # expect: call-arg / reportCallIssue

# -- flows --
assert_type(chain(start.step(1), shown.step()), Flow[str])
assert_type(chain(start.step(1), start.step(), shown.step(digits=1)), Flow[str])
assert_type(group(start.step(1), start.step(2)), Flow[list[int]])
assert_type(chord(group(start.step(1), start.step(2)), total.step()), Flow[float])
assert_type(chain(start.step(1), group(shown.step(), shown.step())), Flow[list[str]])
chain(start.step(1), total.step())  # expect: misc / reportArgumentType
chain(alone.step(), start.step())  # expect: misc / reportArgumentType
chain(start.step(1), start.step(2))  # expect: call-overload / reportArgumentType
chord(group(shown.step(1)), total.step())  # expect: misc / reportArgumentType
chain(start)  # expect: call-overload / reportArgumentType

# -- handles --
workflow = app.enqueue_workflow(chain(start.step(1), shown.step()), on_success=alone.step())
assert_type(workflow, WorkflowHandle[str])
assert_type(workflow.result(), str)
assert_type(workflow.handle(start.step(1)), JobHandle[int])


async def wait() -> None:
    made = await app.aenqueue_workflow(group(start.step(1), start.step(2)), id="w")
    assert_type(await made.aresult(timeout=3), list[int])


# -- graphs --
dag = Dag()
first = dag.add(start.step(1))
second = dag.add(shown.step(), takes=first)
third = dag.add(total.step(), gathers=[first], after=second)
assert_type(third, Node[float])
assert_type(dag.flow(), Flow[None])
assert_type(dag.flow(third), Flow[float])
assert_type(workflow.handle(second), JobHandle[str])
dag.add(start)  # expect: arg-type / reportArgumentType

# -- dependencies --
start.using(depends_on=workflow).enqueue(1)
start.using(depends_on=[workflow, "an id", start.enqueue(1)], orphaned="run").enqueue(1)
start.using(depends_on=7)  # expect: arg-type / reportArgumentType
start.using(orphaned="never")  # expect: arg-type / reportArgumentType

# -- checkpoints --


@app.task(context=True)
def resume(ctx: Context) -> None:
    ctx.checkpoint({"page": 1})


@app.task(context=True)
async def aresume(ctx: Context) -> None:
    await ctx.acheckpoint(ctx.state)
