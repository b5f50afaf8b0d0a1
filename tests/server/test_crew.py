"""Workers, limits and tasks."""

from datetime import datetime
from typing import Any, Literal

import msgspec

from tests.server.conftest import Serve, Working
from tests.server.serving import Served
from tests.server.shop import Shop
from windlass import Context, Windlass
from windlass.core.workers import WorkerInfo


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


async def test_limits_are_those_of_one_queue_if_it_is_named(bare: Served) -> None:
    for queue in ("a", "b", "c"):
        for number in range(3):
            limit = {"concurrency": 1, "name": f"dock-{number}"}
            await bare.enqueue("ship", queue=queue, limit=limit)
    params = {"queue": "b", "limit": "2"}
    first = (await bare.get("limits", params=params)).json
    rest = (await bare.get("limits", params=params | {"cursor": first["cursor"]})).json
    seen = [(each["queue"], each["name"]) for each in first["limits"] + rest["limits"]]
    assert seen == [("b", "dock-0"), ("b", "dock-1"), ("b", "dock-2")]
    assert rest["cursor"] is None
    assert (await bare.get("limits", params={"queue": "d"})).json["limits"] == []
    await bare.add_key("admin")
    key = await bare.add_key("read", queues=["a", "c"])
    assert (await bare.get("limits", params={"queue": "b"}, key=key)).json["limits"] == []
    assert len((await bare.get("limits", params={"queue": "c"}, key=key)).json["limits"]) == 3


class Order(msgspec.Struct):
    id: int
    lines: list[str] = []


class Wheel:
    """Not a type that JSON knows."""


async def test_the_parameters_of_a_task_are_data_for_a_form(serve: Serve) -> None:
    app = Windlass("memory://")

    @app.task(context=True)
    async def ship(
        context: Context,
        order: Order,
        /,
        size: Literal["s", "m"],
        wheel: Wheel,
        *rest: int,
        when: datetime | None = None,
        count: "int" = 3,
        **others: Any,
    ) -> None: ...

    api = await serve(app)
    (task,) = (await api.get("tasks")).json["tasks"]
    found = {each["name"]: each for each in task["parameters"]}
    assert [(each["name"], each["kind"], each["required"]) for each in task["parameters"]] == [
        ("order", "positional", True),
        ("size", "either", True),
        ("wheel", "either", True),
        ("rest", "rest", False),
        ("when", "named", False),
        ("count", "named", False),
        ("others", "others", False),
    ]
    assert found["size"]["schema"] == {"enum": ["m", "s"]}
    assert found["count"] == {
        "name": "count",
        "kind": "named",
        "annotation": "int",
        "schema": {"type": "integer"},
        "required": False,
        "default": 3,
    }
    assert "Order" in found["order"]["schema"]["$defs"]
    assert (found["wheel"]["schema"], "Wheel" in found["wheel"]["annotation"]) == (None, True)
    assert {"type": "null"} in found["when"]["schema"]["anyOf"]
    await app.aclose()


async def test_why_and_the_list_know_an_order_at_once(api: Served, shop: Shop) -> None:
    store = await shop.client.store()
    await store.beat(WorkerInfo("told", "box", 1, ("*",), 10, 0), 30_000)
    id = await api.enqueue("greet", "Ada")
    assert (await api.get(f"jobs/{id}/why")).json["code"] == "next"
    assert (await api.post("workers/told/quiet")).status == 204
    assert (await api.get(f"jobs/{id}/why")).json["code"] == "quiet"
    (worker,) = (await api.get("workers")).json["workers"]
    assert (worker["order"], worker["quiet"]) == ("quiet", False)
    assert (await api.get("overview")).json["crew"]["quiet"] == 1
    assert (await api.post("workers/told/resume")).status == 204
    assert (await api.get(f"jobs/{id}/why")).json["code"] == "next"
