"""Jobs on their way in: one, many, and in the short form."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.server.serving import EVERY_QUEUE, Served
from windlass import Middleware
from windlass.core.model import NewJob
from windlass.errors import Veto
from windlass.testing.work import work


async def test_a_job_is_stored_as_its_task_says(api: Served) -> None:
    answer = await api.post("jobs", {"task": "add", "args": [1], "kwargs": {"b": 3}})
    assert answer.status == 201
    assert answer.json["duplicate"] is False
    job = (await api.get(f"jobs/{answer.json['id']}")).json
    assert (job["task"], job["args"], job["kwargs"]) == ("add", [1], {"b": 3})
    assert (job["queue"], job["priority"], job["max_retries"]) == ("sums", 80, 1)
    assert (job["state"], job["content_type"]) == ("pending", "msgpack")


async def test_every_option_of_a_job_can_be_given(bare: Served) -> None:
    first = await bare.enqueue("ship")
    moment = datetime.now(UTC) + timedelta(days=1)
    answer = await bare.post(
        "jobs",
        {
            "task": "ship",
            "id": "ship-1",
            "queue": "mail",
            "priority": "high",
            "max_retries": 7,
            "timeout": 12.5,
            "keep": 60,
            "at": moment.isoformat(),
            "labels": {"color": "red"},
            "headers": {"trace": "1"},
            "expires_at": (moment + timedelta(days=1)).isoformat(),
            "depends_on": [first],
            "orphaned": "run",
            "unique": "ship:1",
            "limit": {"rate": "5/s", "concurrency": 2, "name": "dock"},
            "group": "acme",
            "weight": 3,
        },
    )
    assert answer.status == 201, answer
    job = (await bare.get("jobs/ship-1")).json
    expected = {
        "id": "ship-1",
        "queue": "mail",
        "priority": 75,
        "max_retries": 7,
        "timeout": 12.5,
        "keep": 60.0,
        "labels": {"color": "red"},
        "headers": {"trace": "1"},
        "depends_on": [first],
        "orphaned": "run",
        "unique": "ship:1",
        "group": "acme",
        "state": "blocked",
        "lane": "limit:dock",
        "content_type": "json",
    }
    assert {name: job[name] for name in expected} == expected


async def test_a_delay_makes_it_scheduled(api: Served) -> None:
    id = await api.enqueue("greet", "Ada", delay=60)
    job = (await api.get(f"jobs/{id}")).json
    assert job["state"] == "scheduled"
    assert job["due_at"] > job["created_at"]


async def test_many_jobs_are_stored_in_one_step_and_run(api: Served) -> None:
    jobs = [{"task": "add", "args": [number]} for number in range(100)]
    answer = await api.post("jobs/batch", {"jobs": jobs})
    assert answer.status == 201
    ids = [each["id"] for each in answer.json["jobs"]]
    assert len({*ids}) == 100
    await work(api.app, EVERY_QUEUE)
    last = (await api.get(f"jobs/{ids[-1]}/result")).json
    assert (last["state"], last["result"]) == ("completed", 101)


async def test_jobs_of_a_batch_may_depend_on_those_before(bare: Served) -> None:
    jobs = [{"task": "a", "id": "a"}, {"task": "b", "id": "b", "depends_on": ["a"]}]
    assert (await bare.post("jobs/batch", {"jobs": jobs})).status == 201
    assert (await bare.get("jobs/b")).json["state"] == "blocked"


@pytest.mark.parametrize(
    ("bad", "status", "said"),
    [
        ({"task": "unheard-of"}, 422, "Job 2 of 2: No task named unheard-of is registered"),
        ({"task": "add", "args": []}, 422, "Job 2 of 2: add() missing a required argument: 'a'"),
        ({"task": "add", "args": ["one"]}, 422, "Job 2 of 2: add() argument 'a': Expected `int`"),
        ({"task": "add", "args": [1], "queue": " "}, 422, "Job 2 of 2: The name of a queue"),
        ({"task": "add", "args": [1], "priority": 101}, 400, "`int` <= 100 - at `$.jobs[1]"),
        ({"task": "add", "args": [1], "depends_on": ["nobody"]}, 404, "nobody"),
        ({"task": "add", "args": [1], "colour": "red"}, 400, "unknown field `colour`"),
        ({"task": "greet", "args": ["a" * 1_100_000]}, 413, "the limit is 1,048,576"),
    ],
)
async def test_one_bad_job_of_a_batch_keeps_all_of_them_out(
    api: Served, bad: Any, status: int, said: str
) -> None:
    answer = await api.post("jobs/batch", {"jobs": [{"task": "greet", "args": ["Ada"]}, bad]})
    assert answer.status == status, answer
    assert said in answer.detail
    assert await api.number() == 0


async def test_a_batch_has_a_job_at_least_and_no_more_than_allowed(serve: Any) -> None:
    api = await serve(max_batch=3)
    job = {"task": "x"}
    assert (await api.post("jobs/batch", {"jobs": []})).status == 400
    over = await api.post("jobs/batch", {"jobs": [job] * 4})
    assert over.status == 413
    assert over.detail == "One request takes 3 jobs; this one has 4."
    assert await api.number() == 0
    assert (await api.post("jobs/batch", {"jobs": [job] * 3})).status == 201


async def test_without_an_app_jobs_of_any_task_are_taken_as_json(bare: Served) -> None:
    id = await bare.enqueue("resize", "cat.png", kwargs={"width": 3})
    job = (await bare.get(f"jobs/{id}")).json
    assert (job["task"], job["content_type"]) == ("resize", "json")
    assert (job["args"], job["kwargs"]) == (["cat.png"], {"width": 3})
    stored = (await bare.store.get([id]))[id]
    assert stored.spec.payload == b'[1,["cat.png"],{"width":3}]'


async def test_with_an_app_only_its_tasks_and_what_they_take(api: Served) -> None:
    unknown = await api.post("jobs", {"task": "resize"})
    assert (unknown.status, unknown.json["error"]) == (422, "UnknownTask")
    wrong = await api.post("jobs", {"task": "add", "args": [1, 2, 3]})
    assert (wrong.status, wrong.json["error"]) == (422, "InvalidArguments")
    assert await api.number() == 0


@pytest.mark.parametrize(
    ("payload", "args", "kwargs"),
    [({"name": "Ada"}, [], {"name": "Ada"}), (["Ada"], ["Ada"], {}), ("Ada", ["Ada"], {})],
)
async def test_the_short_form_takes_names_positions_or_one_value(
    api: Served, payload: Any, args: Any, kwargs: Any
) -> None:
    answer = await api.post("/enqueue", {"type": "greet", "payload": payload, "priority": "high"})
    assert answer.status == 201
    job = (await api.get(f"jobs/{answer.json['id']}")).json
    assert (job["args"], job["kwargs"], job["priority"]) == (args, kwargs, 75)


async def test_the_short_form_has_id_queue_and_delay(api: Served) -> None:
    asked = {"type": "refuse", "id": "short", "queue": "mail", "delay": 60, "priority": 3}
    assert (await api.post("/enqueue", asked)).json == {"id": "short", "duplicate": False}
    again = await api.post("/enqueue", asked)
    assert (again.status, again.json["duplicate"]) == (200, True)
    job = (await api.get("jobs/short")).json
    assert (job["queue"], job["state"], job["priority"]) == ("mail", "scheduled", 3)
    wrong = await api.post("/enqueue", {"type": "refuse", "priority": "urgent"})
    assert wrong.status == 422
    assert "priority" in wrong.detail


async def test_a_middleware_sees_jobs_of_requests_and_may_refuse_them(api: Served) -> None:
    class Doorman(Middleware):
        def enqueue(self, job: NewJob) -> NewJob:
            raise Veto("the shop is closed")

    api.app.add_middleware(Doorman())
    answer = await api.post("jobs", {"task": "greet", "args": ["Ada"]})
    assert (answer.status, answer.json["error"]) == (422, "Veto")
    assert answer.detail == "A middleware refused the job: the shop is closed"
    assert await api.number() == 0
