"""Workflows by the API."""

import pytest

from tests.server.serving import EVERY_QUEUE, Served
from tests.server.shop import Shop
from windlass import chain
from windlass.server.http import workflows
from windlass.testing.work import work


async def start(shop: Shop, *, fails: bool = False) -> str:
    """A workflow of two jobs; the id of the job that stands for it."""
    second = shop.tasks["refuse" if fails else "greet"].step()
    flow = await shop.aenqueue_workflow(chain(shop.tasks["greet"].step("Ada"), second))
    return flow.id


async def test_a_workflow_is_shown_with_its_jobs(api: Served, shop: Shop) -> None:
    id = await start(shop)
    answer = await api.get(f"workflows/{id}")
    assert answer.status == 200, answer
    assert answer.json["workflow"]["id"] == id
    first, second = answer.json["jobs"]
    assert (first["state"], second["state"]) == ("pending", "blocked")
    assert second["depends_on"] == [first["id"]]
    assert {first["workflow"], second["workflow"]} == {id}


async def test_workflows_are_listed(api: Served, shop: Shop) -> None:
    made = {await start(shop) for _ in range(3)}
    await api.enqueue("greet", "Ada")
    page = (await api.get("workflows", params={"limit": "2"})).json
    rest = (await api.get("workflows", params={"limit": "2", "cursor": page["cursor"]})).json
    assert {job["id"] for job in page["jobs"] + rest["jobs"]} == made
    assert (await api.get("workflows", params={"state": "dead"})).json["jobs"] == []


async def test_a_workflow_is_called_off_with_all_its_jobs(api: Served, shop: Shop) -> None:
    id = await start(shop)
    done = await api.post(f"workflows/{id}/cancel")
    assert (done.status, done.json["state"]) == (200, "cancelled")
    states = {job["state"] for job in (await api.get(f"workflows/{id}")).json["jobs"]}
    assert states == {"cancelled"}
    again = await api.post(f"workflows/{id}/cancel")
    assert (again.status, again.json["error"]) == (409, "WrongState")


async def test_what_failed_of_a_workflow_is_tried_again(api: Served, shop: Shop) -> None:
    id = await start(shop, fails=True)
    await work(shop, EVERY_QUEUE)
    assert (await api.get(f"jobs/{id}")).json["state"] == "dead"
    done = await api.post(f"workflows/{id}/retry")
    assert (done.status, done.json) == (200, {"replayed": 1})
    again = await api.post(f"workflows/{id}/retry")
    assert (again.status, again.json["error"]) == (409, "WrongState")


async def test_a_job_is_no_workflow(api: Served) -> None:
    id = await api.enqueue("greet", "Ada")
    for path in (id, "nobody"):
        for method, action in [("GET", ""), ("POST", "/cancel"), ("POST", "/retry")]:
            answer = await api(method, f"workflows/{path}{action}")
            assert (answer.status, answer.json["error"]) == (404, "UnknownJob")
    assert (await api.get(f"jobs/{id}")).json["state"] == "pending"


async def test_of_a_workflow_that_is_too_large_the_first_jobs_are_shown(
    api: Served, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = await start(shop)
    assert (await api.get(f"workflows/{id}")).json["complete"] is True
    monkeypatch.setattr(workflows, "MOST_SHOWN", 1)
    shown = (await api.get(f"workflows/{id}")).json
    assert (len(shown["jobs"]), shown["complete"]) == (1, False)


@pytest.mark.parametrize("how", ["dead", "bulk", "one"])
async def test_a_replay_of_what_died_brings_the_workflow_back(
    api: Served, shop: Shop, how: str
) -> None:
    id = await start(shop, fails=True)
    await work(shop, EVERY_QUEUE)
    match how:
        case "dead":
            done = await api.post("dead/replay", {})
            assert done.json["changed"] == 2
        case "bulk":
            done = await api.post("jobs/bulk", {"action": "replay", "ids": [id]})
            assert done.json["changed"] == 1
        case _:
            done = await api.post(f"jobs/{id}.2/replay")
            assert done.json["state"] == "pending"
    assert done.status == 200, done
    states = {job["id"]: job["state"] for job in (await api.get(f"workflows/{id}")).json["jobs"]}
    assert states == {f"{id}.1": "completed", f"{id}.2": "pending"}
    assert (await api.get(f"jobs/{id}")).json["state"] == "blocked"


async def test_of_a_workflow_that_takes_many_bytes_the_first_jobs_are_shown(
    api: Served, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = await start(shop)
    monkeypatch.setattr(workflows, "PAGE_BYTES", 1)
    shown = (await api.get(f"workflows/{id}")).json
    assert (len(shown["jobs"]), shown["complete"]) == (1, False)
