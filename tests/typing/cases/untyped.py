# mypy: ignore-errors
# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False
# pyright: basic
"""A task without annotations keeps all its parameters, for those who do not check strictly.

Where nothing is annotated, mypy takes the task for Any and checks none of its calls.
"""

from windlass import Windlass

app = Windlass("memory://")


@app.task
def plain(value, indent=0):
    return f"{value}{indent}"


@app.task(queue="dumps")
def with_options(value, indent=0):
    return f"{value}{indent}"


@app.task
def half_typed(value, indent=0) -> str:
    return f"{value}{indent}"


@app.task(queue="dumps")
async def half_typed_async(value, indent=0) -> str:
    return f"{value}{indent}"


def right_calls() -> None:
    plain.enqueue(1, 2)
    with_options.enqueue(1, indent=2)
    half_typed.enqueue(1, 2)
    half_typed_async.enqueue(1, indent=2)


def the_first_parameter_is_still_there() -> None:
    plain.enqueue()  # expect: / reportCallIssue
    with_options.enqueue()  # expect: / reportCallIssue
    half_typed.enqueue()  # expect: call-arg / reportCallIssue
    half_typed_async.enqueue()  # expect: call-arg / reportCallIssue


def so_there_is_no_third() -> None:
    plain.enqueue(1, 2, 3)  # expect: / reportCallIssue
    with_options.enqueue(1, 2, 3)  # expect: / reportCallIssue
    half_typed.enqueue(1, 2, 3)  # expect: call-arg / reportCallIssue
    half_typed_async.enqueue(1, 2, 3)  # expect: call-arg / reportCallIssue
