"""Workers, limits and tasks."""

from tests.server.conftest import Working
from tests.server.serving import Served


async def test_workers_that_are_alive_are_listed(api: Served, working: Working) -> None:
    assert (await api.get("workers")).json == {"workers": []}
    async with working() as worker:
        (seen,) = (await api.get("workers")).json["workers"]
        assert (seen["id"], seen["queues"], seen["concurrency"]) == (worker.id, ["*"], 100)
        assert seen["started_at"] <= seen["seen_at"]
    assert (await api.get("workers")).json == {"workers": []}


async def test_limits_are_listed_page_by_page(bare: Served) -> None:
    for number in range(5):
        limit = {"rate": "10/min", "burst": 3, "concurrency": 2, "name": f"dock-{number}"}
        await bare.enqueue("ship", limit=limit)
    await bare.enqueue("ship", sequence="orders")
    seen, cursor = [], None
    while True:
        params = {"limit": "4", **({"cursor": cursor} if cursor else {})}
        page = (await bare.get("limits", params=params)).json
        seen += page["limits"]
        cursor = page["cursor"]
        if cursor is None:
            break
    assert [(each["kind"], each["name"]) for each in seen] == [
        *(("limit", f"dock-{number}") for number in range(5)),
        ("sequence", "orders"),
    ]
    first = seen[0]
    assert (first["queue"], first["concurrency"]) == ("default", 2)
    assert (first["starts"], first["per"], first["burst"]) == (10, 60.0, 3)
    assert (first["holders"], first["waiting"]) == (1, 0)
    assert (await bare.get("limits", params={"cursor": "x"})).status == 422


async def test_the_tasks_of_the_app_are_listed(api: Served) -> None:
    answer = (await api.get("tasks")).json
    assert answer["known"] is True
    tasks = {task["name"]: task for task in answer["tasks"]}
    assert tasks["add"]["signature"].startswith("add(a: int, b: int = 2)")
    assert (tasks["add"]["doc"], tasks["add"]["queue"]) == ("Add two numbers.", "sums")


async def test_without_an_app_no_tasks_are_known(bare: Served) -> None:
    assert (await bare.get("tasks")).json == {"known": False, "tasks": []}
