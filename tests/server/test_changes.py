"""Changes to single jobs, and to many at once."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.server.conftest import Working
from tests.server.serving import EVERY_QUEUE, Served
from tests.server.shop import Shop
from windlass.core.states import State
from windlass.testing.work import work


async def dead(api: Served, shop: Shop, **options: Any) -> str:
    id = await api.enqueue("refuse", "no", **options)
    await work(shop, EVERY_QUEUE)
    return id


async def test_a_job_is_cancelled_once(api: Served) -> None:
    id = await api.enqueue("add", 1)
    done = await api.post(f"jobs/{id}/cancel")
    assert (done.status, done.json["state"]) == (200, "cancelled")
    again = await api.post(f"jobs/{id}/cancel")
    assert (again.status, again.json["error"]) == (409, "WrongState")
    assert again.detail == f"Job {id} cannot be cancelled: it is cancelled."


async def test_a_job_that_is_not_kept_is_cancelled_all_the_same(api: Served) -> None:
    id = await api.enqueue("add", 1, keep=0)
    done = await api.post(f"jobs/{id}/cancel")
    assert (done.status, done.json["state"]) == (200, "cancelled")
    assert (await api.get(f"jobs/{id}")).status == 404


async def test_a_running_job_is_cancelled(api: Served, shop: Shop, working: Working) -> None:
    id = await api.enqueue("gate")
    async with working():
        await shop.entered.wait()
        assert (await api.post(f"jobs/{id}/cancel")).json["state"] == "cancelled"
    assert (await api.get(f"jobs/{id}")).json["state"] == "cancelled"


async def test_a_dead_job_is_replayed(api: Served, shop: Shop) -> None:
    id = await dead(api, shop)
    done = await api.post(f"jobs/{id}/replay")
    assert (done.status, done.json["id"], done.json["state"]) == (200, id, "pending")
    again = await api.post(f"jobs/{id}/replay")
    assert (again.status, again.detail) == (409, f"Job {id} cannot be replayed: it is pending.")


async def test_a_replay_may_change_the_job(api: Served, shop: Shop) -> None:
    id = await dead(api, shop, labels={"from": "web"})
    edit = {"args": ["again"], "queue": "mail", "priority": 9, "max_retries": 0, "timeout": 5}
    done = await api.post(f"jobs/{id}/replay", edit)
    assert done.status == 200, done
    new = (await api.get(f"jobs/{done.json['id']}")).json
    assert new["id"] != id
    assert (new["args"], new["queue"], new["priority"]) == (["again"], "mail", 9)
    assert (new["max_retries"], new["timeout"], new["labels"]) == (0, 5.0, {"from": "web"})
    assert (new["state"], new["attempt"]) == ("pending", 0)
    assert (await api.get(f"jobs/{id}")).status == 404


async def test_what_an_edit_leaves_out_stays_as_it_was(bare: Served) -> None:
    id = await bare.enqueue("send", "Ada", kwargs={"subject": "Hi"})
    await bare.post(f"jobs/{id}/cancel")
    first = (await bare.post(f"jobs/{id}/replay", {"kwargs": {"subject": "Hello"}})).json["id"]
    job = (await bare.get(f"jobs/{first}")).json
    assert (job["args"], job["kwargs"]) == (["Ada"], {"subject": "Hello"})
    await bare.post(f"jobs/{first}/cancel")
    second = (await bare.post(f"jobs/{first}/replay", {"args": ["Bob"]})).json["id"]
    job = (await bare.get(f"jobs/{second}")).json
    assert (job["args"], job["kwargs"]) == (["Bob"], {"subject": "Hello"})


async def test_an_edit_that_does_not_fit_leaves_the_job_dead(api: Served, shop: Shop) -> None:
    id = await dead(api, shop)
    for edit, status in [
        ({"args": [1, 2, 3]}, 422),
        ({"queue": " x"}, 422),
        ({"priority": 101}, 400),
        ({"id": "other"}, 400),
    ]:
        assert (await api.post(f"jobs/{id}/replay", edit)).status == status
    assert (await api.get(f"jobs/{id}")).json["state"] == "dead"
    assert await api.number() == 1


async def test_an_edited_job_whose_unique_key_is_held_is_not_lost(api: Served, shop: Shop) -> None:
    id = await dead(api, shop, unique="one")
    await api.enqueue("refuse", "no", unique="one")
    for edit in (None, {"priority": 3}):
        answer = await api.post(f"jobs/{id}/replay", edit)
        assert answer.status == 409
        assert "has its unique key one" in answer.detail
    assert (await api.get(f"jobs/{id}")).json["state"] == "dead"


async def test_only_dead_and_cancelled_jobs_can_be_edited(api: Served) -> None:
    id = await api.enqueue("refuse", "no")
    answer = await api.post(f"jobs/{id}/replay", {"priority": 3})
    assert (answer.status, answer.detail) == (409, f"Job {id} cannot be replayed: it is pending.")


async def test_a_job_is_deleted_for_good(api: Served) -> None:
    id = await api.enqueue("add", 1)
    done = await api("DELETE", f"jobs/{id}")
    assert (done.status, done.body) == (204, b"")
    assert (await api("DELETE", f"jobs/{id}")).status == 404
    assert await api.number() == 0


async def test_a_running_job_is_not_deleted(api: Served, shop: Shop, working: Working) -> None:
    id = await api.enqueue("gate")
    async with working():
        await shop.entered.wait()
        answer = await api("DELETE", f"jobs/{id}")
        assert (answer.status, answer.detail) == (409, f"Job {id} cannot be deleted: it is active.")


async def test_a_job_gets_another_time(api: Served) -> None:
    id = await api.enqueue("add", 1)
    later = await api.post(f"jobs/{id}/reschedule", {"delay": 3600})
    assert (later.status, later.json["state"]) == (200, "scheduled")
    moment = datetime.now(UTC) + timedelta(days=2)
    at = await api.post(f"jobs/{id}/reschedule", {"at": moment.isoformat()})
    assert at.json["due_at"][:16] == moment.isoformat()[:16]
    assert (await api.post(f"jobs/{id}/reschedule", {})).json["state"] == "pending"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"delay": -1}, 400),
        ({"delay": "soon"}, 400),
        ({"at": "2030-01-01T00:00:00"}, 400),
        ({"at": "2030-01-01T00:00:00Z", "delay": 5}, 422),
        ({"at": "9999-12-31T00:00:00Z"}, 422),
        ({"when": 5}, 400),
        (None, 415),
    ],
)
async def test_a_time_that_is_none_changes_nothing(api: Served, body: Any, status: int) -> None:
    id = await api.enqueue("add", 1)
    assert (await api.post(f"jobs/{id}/reschedule", body)).status == status
    assert (await api.get(f"jobs/{id}")).json["state"] == "pending"


async def test_a_signal_reaches_the_handler_that_waits_for_it(
    api: Served, shop: Shop, working: Working
) -> None:
    id = await api.enqueue("listen")
    async with working():
        assert (await api.post(f"jobs/{id}/signal", {"name": "word", "value": "go"})).status == 204
        answer = await api.get(f"jobs/{id}/result", params={"wait": "30"})
    assert answer.json["result"] == "heard go"
    late = await api.post(f"jobs/{id}/signal", {"name": "word", "value": "go"})
    assert (late.status, late.json["error"]) == (409, "WrongState")


async def test_the_first_signal_of_a_name_stays(api: Served) -> None:
    id = await api.enqueue("listen")
    assert (await api.post(f"jobs/{id}/signal", {"name": "word", "value": 1})).status == 204
    assert (await api.post(f"jobs/{id}/signal", {"name": "word", "value": 2})).status == 409
    assert (await api.get(f"jobs/{id}")).json["signals"] == ["word"]
    assert (await api.post(f"jobs/{id}/signal", {"name": " "})).status == 422
    assert (await api.post("jobs/nobody/signal", {"name": "word"})).status == 404


async def test_a_change_of_a_job_that_is_not_there_is_404(api: Served) -> None:
    for method, path, body in [
        ("POST", "jobs/nobody/cancel", None),
        ("POST", "jobs/nobody/replay", None),
        ("POST", "jobs/nobody/replay", {"priority": 1}),
        ("POST", "jobs/nobody/reschedule", {"delay": 1}),
        ("DELETE", "jobs/nobody", None),
    ]:
        answer = await api(method, path, body)
        assert (answer.status, answer.json["error"]) == (404, "UnknownJob"), path


async def test_many_jobs_are_changed_by_their_ids(api: Served) -> None:
    ids = [await api.enqueue("add", number) for number in range(3)]
    asked = {"action": "cancel", "ids": [*ids, "nobody", ids[0]]}
    done = (await api.post("jobs/bulk", asked)).json
    assert (done["changed"], done["left"], done["more"]) == (3, 1, False)
    assert done["refused"] == {"nobody": "There is no job nobody."}
    assert await api.number(State.CANCELLED) == 3


async def test_all_jobs_that_match_are_changed(api: Served) -> None:
    for number in range(5):
        await api.enqueue("add", number)
        await api.enqueue("greet", "Ada")
    where = {"queue": "sums", "states": ["pending", "active"]}
    later = (await api.post("jobs/bulk", {"action": "reschedule", "where": where, "delay": 9})).json
    assert (later["changed"], later["more"]) == (5, False)
    assert await api.number(State.SCHEDULED) == 5
    some = (await api.post("jobs/bulk", {"action": "cancel", "where": {}, "most": 4})).json
    assert (some["changed"], some["more"]) == (4, True)
    rest = (await api.post("jobs/bulk", {"action": "cancel", "where": {"task": "greet"}})).json
    assert rest["more"] is False
    gone = (await api.post("jobs/bulk", {"action": "delete", "where": {}})).json
    assert gone["changed"] == 10
    assert await api.number() == 0


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ({"action": "explode", "ids": []}, 400, "explode"),
        ({"action": "cancel"}, 422, "Give ids or where, one of them."),
        ({"action": "cancel", "ids": [], "where": {}}, 422, "Give ids or where, one of them."),
        ({"action": "cancel", "ids": [""]}, 422, "A job id is a text"),
        ({"action": "cancel", "ids": ["x"] * 10_001}, 413, "10,000 ids"),
        ({"action": "cancel", "ids": ["x"], "delay": 3}, 422, "delay goes with"),
        ({"action": "replay", "where": {"states": ["active"]}}, 422, "No job can be replayed"),
        ({"action": "cancel", "where": {}, "most": 10_001}, 400, "10000"),
        ({"action": "cancel", "where": {"queue": "a\0"}}, 422, "The name of a queue"),
        ({"action": "cancel", "where": {"colour": "red"}}, 400, "unknown field"),
    ],
)
async def test_a_change_of_many_says_what_is_wrong_with_it(
    api: Served, body: Any, status: int, said: str
) -> None:
    await api.enqueue("add", 1)
    answer = await api.post("jobs/bulk", body)
    assert (answer.status, said in answer.detail) == (status, True), answer.body
    assert await api.number(State.PENDING) == 1


async def test_jobs_of_workflows_are_replayed_without_changes(api: Served, shop: Shop) -> None:
    flow = await shop.aenqueue_workflow(shop.tasks["refuse"].step("no"))
    await work(shop, EVERY_QUEUE)
    member = (await flow.ajobs())[0].id
    answer = await api.post(f"jobs/{member}/replay", {"args": ["yes"]})
    assert (answer.status, "replay it without changes" in answer.detail) == (409, True)
    assert (await api.get(f"jobs/{member}")).json["state"] == "dead"
