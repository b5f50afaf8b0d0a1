"""What newcomers write who know another queue, or not yet this one: each is told what to write."""

import inspect
import re
from collections.abc import Callable
from typing import Any

import pytest

from windlass import (
    Connection,
    Context,
    Dag,
    JobHandle,
    Task,
    Windlass,
    WorkflowHandle,
    chain,
    connect,
)
from windlass.admin.schedules import Schedules
from windlass.core import habits
from windlass.core.options import CHECKS
from windlass.declaration import Declaration
from windlass.errors import InvalidOption, NoEventLoop, UnknownScheme, WouldBlock
from windlass.history.history import History


def app_with_add() -> tuple[Any, Any]:
    app = Windlass("memory://")

    @app.task
    def add(a: int, b: int = 1) -> int:
        return a + b

    return app, add


@pytest.mark.parametrize("name", ["delay", "send", "kiq", "defer"])
def test_a_method_of_another_queue_is_answered_with_ours(name: str) -> None:
    _, add = app_with_add()
    with pytest.raises(AttributeError, match=rf"no attribute '{name}': use add\.enqueue\(…\)"):
        getattr(add, name)(1)


def test_methods_that_take_options_are_answered_with_using() -> None:
    _, add = app_with_add()
    for name in ("apply_async", "send_with_options"):
        with pytest.raises(AttributeError, match=r"use add\.using\(delay=60\)\.enqueue\(…\)"):
            getattr(add, name)


@pytest.mark.parametrize("kind", ["handle", "app", "connection"])
def test_what_others_have_is_answered_by_handles_and_apps(kind: str) -> None:
    app, add = app_with_add()
    owners: dict[str, Any] = {
        "handle": add.enqueue(1),
        "app": app,
        "connection": connect("memory://"),
    }
    answers, owner = habits.HANDLES if kind == "handle" else habits.APPS, owners[kind]
    for name, hint in answers.items():
        with pytest.raises(AttributeError) as caught:
            getattr(owner, name)
        assert (
            str(caught.value)
            == f"{type(owner).__name__!r} object has no attribute {name!r}: {hint}"
        )
    with pytest.raises(AttributeError, match=r"has no attribute 'nonsense'$"):
        _ = owner.nonsense


def test_every_answer_names_what_there_is() -> None:
    app, add = app_with_add()
    job = add.enqueue(1)
    for hint in {*habits.HANDLES.values(), *habits.APPS.values()}:
        for owner, names in re.findall(r"\b(app|job)\.([a-z_.]+)", hint):
            found: Any = {"app": app, "job": job}[owner]
            for name in names.rstrip(".").split("."):
                found = getattr(found, name)


def test_what_nobody_has_is_an_attribute_error_as_of_any_object() -> None:
    _, add = app_with_add()
    with pytest.raises(AttributeError, match=r"^'Task' object has no attribute 'nonsense'$"):
        _ = add.nonsense
    assert not hasattr(add, "__deepcopy__")


@pytest.mark.parametrize(
    ("given", "ours"), [("countdown", "delay"), ("eta", "at"), ("time_limit", "timeout")]
)
def test_an_option_of_another_queue_is_answered_with_ours(given: str, ours: str) -> None:
    app, add = app_with_add()
    with pytest.raises(InvalidOption, match=rf"^Unknown option {given}: did you mean {ours}\?$"):
        add.using(**{given: 3})
    with pytest.raises(InvalidOption, match=rf"did you mean {ours}\?$"):
        app.task(**{given: 3})(lambda: None)


def test_every_answer_is_an_option_that_there_is() -> None:
    known = CHECKS.keys() | Declaration.__annotations__.keys() | {"context"}
    assert set(habits.OPTIONS.values()) <= known
    assert not habits.OPTIONS.keys() & known


def test_every_answer_is_a_method_that_there_is_and_hides_none() -> None:
    _, add = app_with_add()
    for name, answer in habits.METHODS.items():
        with pytest.raises(AttributeError, match=r": (use|call) "):
            getattr(add, name)
        assert "add" in answer.format(task="add")


@pytest.mark.parametrize("thing", [(1,), 1, None, "add"])
def test_enqueue_many_says_what_it_takes(thing: object) -> None:
    app, _ = app_with_add()
    with pytest.raises(InvalidOption, match=r"as in app\.enqueue_many\(\[add\.call\(1, 2\)\]\)"):
        app.enqueue_many([thing])


async def test_so_does_its_async_twin() -> None:
    app, _ = app_with_add()
    with pytest.raises(InvalidOption, match="enqueue_many takes calls of tasks"):
        await app.aenqueue_many([(1,)])


@pytest.mark.parametrize("kind", ["task", "call", "function", "list"])
def test_a_workflow_says_what_it_is_made_of(kind: str) -> None:
    app, add = app_with_add()
    given: Any = {"task": add, "call": add.call(1), "function": print, "list": [add.step(1)]}[kind]
    flow = chain(add.step(1))
    made: dict[str, Callable[[], object]] = {
        "A flow is made of task.step": lambda: app.enqueue_workflow(given),
        "A flow is made of": lambda: chain(add.step(1), given),
        "on_success is a step": lambda: app.enqueue_workflow(flow, on_success=given),
        "on_failure is a step": lambda: app.enqueue_workflow(flow, on_failure=given),
        "What is added to a graph is a step": lambda: Dag().add(given),
    }
    for text, act in made.items():
        with pytest.raises(InvalidOption, match=text):
            act()


@pytest.mark.parametrize("url", ["foo", "jobs.db", "amqp://localhost"])
def test_a_url_that_no_store_serves_is_refused_where_it_is_given(url: str) -> None:
    with pytest.raises(UnknownScheme):
        Windlass(url)
    with pytest.raises(UnknownScheme):
        connect(url)


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("redis://host?password=geheim", "redis://host?password=***"),
        ("redis://ada:geheim@host/1", "redis://ada:***@host/1"),
        ("https://wl_geheim@host", "https://***@host"),
        ("https://:wl_geheim@host", "https://:***@host"),
    ],
)
def test_no_repr_shows_a_password(url: str, text: str) -> None:
    assert repr(Windlass(url)) == f"<Windlass {text} with 0 task(s)>"
    assert repr(connect(url)) == f"<Connection {text}>"


def test_an_async_call_without_an_event_loop_names_the_blocking_one() -> None:
    app, add = app_with_add()
    calls: dict[str, Callable[[], object]] = {
        "add.aenqueue": lambda: add.aenqueue(1),
        "app.aenqueue_many": lambda: app.aenqueue_many([add.call(1)]),
        "app.aenqueue_workflow": lambda: app.aenqueue_workflow(chain(add.step(1))),
    }
    for name, call in calls.items():
        with pytest.raises(NoEventLoop) as caught:
            call()
        assert str(caught.value) == (
            f"{name}(…) needs a running event loop: await it in an `async def`; in blocking code "
            f"call {name.replace('aenq', 'enq')}(…)."
        )
    assert issubclass(NoEventLoop, RuntimeError)


def blocking_calls(app: Windlass, job: Any, flow: Any) -> dict[str, Callable[[], object]]:
    """Every blocking call that has an async twin, by what the error is to say of it."""
    add, schedules, history = app.tasks["add"], app.schedules, app.history
    return {
        "add.aenqueue(…)": lambda: add.enqueue(1),
        "app.aenqueue_many(…)": lambda: app.enqueue_many([add.call(1)]),
        "app.aenqueue_workflow(…)": lambda: app.enqueue_workflow(chain(add.step(1))),
        "app.asignal(…)": lambda: app.signal(job, "go"),
        "job.aget()": job.get,
        "job.aresult(…)": job.result,
        "job.acancel()": job.cancel,
        "job.areschedule(…)": lambda: job.reschedule(1),
        "job.aprioritize(…)": lambda: job.prioritize("high"),
        "job.aattempts()": job.attempts,
        "job.asignal(…)": lambda: job.signal("go"),
        "workflow.aresult(…)": flow.result,
        "workflow.await_(…)": flow.wait,
        "workflow.ajobs()": flow.jobs,
        "workflow.acancel()": flow.cancel,
        "workflow.aretry()": flow.retry,
        "workflow.aget()": flow.get,
        "app.schedules.aadd(…)": lambda: schedules.add("s", "@daily", add.call(1)),
        "app.schedules.achange(…)": lambda: schedules.change("s"),
        "app.schedules.apause(…)": lambda: schedules.pause("s"),
        "app.schedules.aresume(…)": lambda: schedules.resume("s"),
        "app.schedules.aremove(…)": lambda: schedules.remove("s"),
        "app.schedules.atrigger(…)": lambda: schedules.trigger("s"),
        "app.schedules.aget(…)": lambda: schedules.get("s"),
        "app.schedules.alist()": schedules.list,
        "app.history.afind(…)": history.find,
        "app.history.aget(…)": lambda: history.get("j"),
        "app.history.aattempts(…)": lambda: history.attempts("j"),
    }


async def test_a_blocking_call_in_an_event_loop_names_its_own_async_twin() -> None:
    app, add = app_with_add()
    job = await add.aenqueue(1)
    flow = await app.aenqueue_workflow(chain(add.step(1)))
    owners = {"add": add, "app": app, "job": job, "workflow": flow}
    for instead, call in blocking_calls(app, job, flow).items():
        with pytest.raises(WouldBlock) as caught:
            call()
        assert f"use `await {instead}` in async code" in str(caught.value)
        first, *names = instead.partition("(")[0].split(".")
        found: Any = owners[first]
        for name in names:
            found = getattr(found, name)
        assert callable(found)


@pytest.mark.parametrize(
    "kind", [Windlass, Connection, Task, JobHandle, WorkflowHandle, Context, Schedules, History]
)
def test_help_says_something_of_every_public_member(kind: type) -> None:
    silent = [
        name
        for name, member in inspect.getmembers(kind)
        if not name.startswith("_")
        and (callable(member) or isinstance(member, property))
        and not inspect.getdoc(member)
    ]
    assert not silent
