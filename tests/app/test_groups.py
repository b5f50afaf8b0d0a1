"""Groups that take turns, from the option to the worker."""

from pathlib import Path
from typing import Any

import pytest

from tests.app.engines import ENGINES, url_of
from windlass import Limit, Windlass, chain
from windlass.config import WorkerSettings
from windlass.errors import InvalidOption
from windlass.middleware import changed
from windlass.testing.work import counts, work

ONE = WorkerSettings(concurrency=1)


@pytest.fixture(params=ENGINES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return url_of(request, tmp_path)


def group_of(call: Any) -> tuple[str, int]:
    return call.job.spec.group, call.job.spec.weight


def test_a_group_is_a_text_or_made_of_the_arguments() -> None:
    app = Windlass("memory://")

    @app.task(group=lambda tenant, **_: f"t:{tenant}", weight=7)
    async def send(tenant: int, *, text: str = "") -> None: ...

    assert group_of(send.call(5, text="x")) == ("t:5", 7)
    assert group_of(send.using(group="other").call(5)) == ("other", 7)
    assert group_of(send.using(group=None).call(5)) == ("", 1)
    assert group_of(send.using(group="a", limit=Limit(concurrency=1)).call(5)) == ("a", 7)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"group": ""}, "group is a text of 1 to 100 characters; got ''."),
        ({"group": "x" * 101}, "group is a text of 1 to 100 characters"),
        ({"group": 7}, "group is a text of 1 to 100 characters; got 7."),
        ({"group": "a", "weight": 0}, "weight is a whole number from 1 to 1,000; got 0."),
        ({"group": "a", "weight": 1001}, "weight is a whole number from 1 to 1,000; got 1001."),
        ({"group": "a", "weight": 1.5}, "weight is a whole number from 1 to 1,000"),
        ({"group": "a", "weight": True}, "weight is a whole number from 1 to 1,000"),
        ({"weight": 2}, "weight says something about group, which is not given."),
        ({"group": None, "weight": 2}, "weight says something about group, which is not given."),
    ],
)
def test_what_cannot_be_is_refused_where_it_is_written(
    options: dict[str, Any], sentence: str
) -> None:
    app = Windlass("memory://")

    @app.task
    async def task() -> None: ...

    with pytest.raises(InvalidOption) as caught:
        task.using(**options)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)
    with pytest.raises(InvalidOption):
        app.task(name="other", **options)(print)


async def test_a_function_must_make_a_text() -> None:
    app = Windlass("memory://")

    @app.task(group=lambda: "")
    async def task() -> None: ...

    with pytest.raises(InvalidOption, match="group is a text of 1 to 100 characters"):
        task.aenqueue()
    with pytest.raises(InvalidOption, match="group is a text of 1 to 100 characters"):
        app.aenqueue_workflow(chain(task.step()))
    assert not await counts(await app.client.store())


def test_middleware_can_say_whose_turn_a_job_takes() -> None:
    app = Windlass("memory://")

    @app.task
    async def task() -> None: ...

    job = changed(task.call().job, group="ada", weight=3)
    assert (job.spec.group, job.spec.weight) == ("ada", 3)
    assert changed(job, priority=9).spec.group == "ada"


async def test_groups_take_turns_however_many_one_has_waiting(app: Windlass) -> None:
    ran: list[str] = []

    @app.task(group=lambda tenant, n: tenant)
    async def send(tenant: str, n: int) -> None:
        ran.append(f"{tenant}{n}")

    await app.aenqueue_many(send.call("a", n) for n in range(20))
    await app.aenqueue_many(send.call(tenant, n) for n in range(2) for tenant in "bc")
    await work(app, ONE)
    assert max(ran.index("b1"), ran.index("c1")) < 8
    assert [each for each in ran if each[0] == "a"] == [f"a{n}" for n in range(20)]


async def test_a_weight_is_so_many_turns(app: Windlass) -> None:
    ran: list[str] = []

    @app.task
    async def send(tenant: str) -> None:
        ran.append(tenant)

    await app.aenqueue_many(send.using(group="a", weight=3).call("a") for _ in range(30))
    await app.aenqueue_many(send.using(group="b").call("b") for _ in range(30))
    await work(app, ONE)
    assert 8 <= ran[:40].count("b") <= 12
