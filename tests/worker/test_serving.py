"""Which queues a worker serves by itself, and what it says of those it leaves out."""

import logging

import pytest

from windlass import Windlass
from windlass.config import WorkerSettings
from windlass.core.states import State
from windlass.testing.work import counts, work

LEFT_OUT = (
    "This worker does not serve queues that its own tasks name: mail (task send), tenant:7 "
    "(schedule nightly). Their jobs wait for another worker. Name these queues too, or none: "
    "then all of them are served."
)


def declare(app: Windlass) -> None:
    app.task(queue="mail")(send)
    app.task(queue="mail", name="send_all")(send)
    app.cron("@daily", name="nightly", queue="tenant:7")(app.task(name="tidy")(send))


def send() -> None: ...


async def test_by_default_it_serves_the_queues_of_its_tasks_and_schedules(app: Windlass) -> None:
    declare(app)
    worker = await app.worker()
    assert worker.queues == ("mail", "default", "tenant:7:1")


async def test_jobs_of_all_of_them_are_run(app: Windlass) -> None:
    declare(app)
    for name in app.tasks:
        await app.tasks[name].aenqueue()
        await app.tasks[name].using(queue="tenant:7").aenqueue()
    await work(app)
    assert await counts(await app.client.store()) == {State.COMPLETED: 6}


async def test_default_is_served_also_if_no_task_names_it(app: Windlass) -> None:
    app.task(queue="mail")(send)
    assert (await app.worker()).queues == ("mail", "default")


async def test_a_worker_that_leaves_queues_of_its_tasks_out_warns_at_its_start(
    app: Windlass, caplog: pytest.LogCaptureFixture
) -> None:
    declare(app)
    await work(app, WorkerSettings(queues=("default", "reports:3")))
    assert [each.message for each in caplog.records if each.levelno == logging.WARNING] == [
        LEFT_OUT
    ]


@pytest.mark.parametrize("queues", [(), ("*",), ("mail:3", "default", "tenant:7:2")])
async def test_one_that_serves_them_all_says_nothing(
    app: Windlass, queues: tuple[str, ...], caplog: pytest.LogCaptureFixture
) -> None:
    declare(app)
    await work(app, WorkerSettings(queues=queues))
    assert not [each for each in caplog.records if each.levelno == logging.WARNING]
