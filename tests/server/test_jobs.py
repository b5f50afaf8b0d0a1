"""Jobs: looked at, listed, waited for."""

import asyncio
from typing import Any

import pytest

from tests.server.conftest import Serve, Working
from tests.server.serving import EVERY_QUEUE, Served
from tests.server.shop import Shop
from windlass.admin import scan
from windlass.stores.contract import SCAN_BATCH
from windlass.testing.work import until, work


async def test_a_job_is_shown_with_its_arguments_and_its_result(api: Served, shop: Shop) -> None:
    id = await api.enqueue("add", 1, 2)
    await work(shop, EVERY_QUEUE)
    job = (await api.get(f"jobs/{id}")).json
    assert (job["args"], job["result"], job["state"]) == ([1, 2], 3, "completed")
    assert (job["attempt"], job["error"], job["unreadable"]) == (1, None, None)
    assert job["finished_at"] >= job["started_at"] >= job["created_at"]


async def test_a_dead_job_is_shown_with_its_error(api: Served, shop: Shop) -> None:
    id = await api.enqueue("refuse", "too late")
    await work(shop)
    job = (await api.get(f"jobs/{id}")).json
    assert (job["state"], job["error"]["kind"]) == ("dead", "Fatal")
    assert job["error"]["message"] == "too late"
    assert len(job["fingerprint"]) == 16


async def test_a_job_that_is_not_there_is_404(api: Served) -> None:
    for path in ("", "/result", "/progress", "/why"):
        answer = await api.get(f"jobs/nobody{path}")
        assert (answer.status, answer.json["error"]) == (404, "UnknownJob")
        assert "There is no job nobody" in answer.detail


@pytest.mark.parametrize("id", ["%20", "a%00b", "%20a", "a" * 129, "%0A"])
async def test_what_cannot_be_an_id_is_422(api: Served, id: str) -> None:
    for path in ("", "/result", "/progress", "/why"):
        answer = await api.get(f"jobs/{id}{path}")
        assert (answer.status, answer.json["error"]) == (422, "InvalidOption")


async def test_arguments_of_redacted_names_are_hidden(serve: Serve, shop: Shop) -> None:
    api = await serve(shop, redact=("name", "b"))
    by_position = await api.enqueue("greet", "Ada")
    by_name = await api.enqueue("add", 1, kwargs={"b": 5})
    assert (await api.get(f"jobs/{by_position}")).json["args"] == ["***"]
    job = (await api.get(f"jobs/{by_name}")).json
    assert (job["args"], job["kwargs"]) == ([1], {"b": "***"})
    listed = (await api.get("jobs", params={"preview": "true"})).json["previews"]
    assert listed == {by_position: '"***"', by_name: '1, b="***"'}


async def test_without_an_app_every_positional_argument_is_hidden(serve: Serve) -> None:
    bare = await serve(redact=("name",))
    id = await bare.enqueue("greet", "Ada", kwargs={"name": "Ada", "age": 3})
    job = (await bare.get(f"jobs/{id}")).json
    assert (job["args"], job["kwargs"]) == (["***"], {"name": "***", "age": 3})


async def test_jobs_are_listed_by_state_queue_and_task(api: Served, shop: Shop) -> None:
    greeting = await api.enqueue("greet", "Ada")
    total = await api.enqueue("add", 1)
    later = await api.enqueue("add", 1, delay=60)

    async def ids(**filters: Any) -> set[str]:
        return {job["id"] for job in (await api.get("jobs", params=filters)).json["jobs"]}

    assert await ids() == {greeting, total, later}
    assert await ids(queue="sums") == {total, later}
    assert await ids(task="greet") == {greeting}
    assert await ids(state="scheduled") == {later}
    assert await ids(state=["scheduled", "pending"], queue="sums") == {total, later}
    assert await ids(state="dead") == set()
    assert await ids(queue="elsewhere") == set()


async def test_a_listing_goes_on_where_the_page_before_ended(api: Served) -> None:
    made = [await api.enqueue("greet", str(number)) for number in range(7)]
    listed: list[str] = []
    params: dict[str, Any] = {"limit": 3}
    sizes = []
    while True:
        page = (await api.get("jobs", params=params)).json
        listed += [job["id"] for job in page["jobs"]]
        sizes.append(len(page["jobs"]))
        # What comes and goes between two pages shifts nothing.
        await api.enqueue("greet", "late", priority=100)
        if page["cursor"] is None:
            break
        params["cursor"] = page["cursor"]
    assert listed[: len(made)] == made
    assert sizes[:2] == [3, 3]


async def test_a_listing_of_few_among_many_gives_short_pages_and_ends(
    api: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan, "LONGEST", 0.0)
    for _ in range(2):
        await api.post("jobs/batch", {"jobs": [{"task": "add", "args": [1]}] * SCAN_BATCH})
    rare = await api.enqueue("add", 2, queue="sums", priority=0, labels={"rare": "yes"})
    await api.enqueue("greet", "Ada", queue="sums", priority=0)
    found, looks, cursor = 0, 0, None
    while looks == 0 or cursor:
        params = {"task": "greet", "queue": "sums", **({"cursor": cursor} if cursor else {})}
        page = (await api.get("jobs", params=params)).json
        found, looks, cursor = found + len(page["jobs"]), looks + 1, page["cursor"]
    assert found == 1
    assert looks > 1
    assert (await api.get(f"jobs/{rare}")).json["labels"] == {"rare": "yes"}


@pytest.mark.parametrize(
    ("params", "status", "said"),
    [
        ({"limit": "0"}, 400, "A parameter does not fit"),
        ({"limit": "1001"}, 400, "A parameter does not fit"),
        ({"limit": "many"}, 400, "A parameter does not fit"),
        ({"state": "asleep"}, 400, "Invalid enum value 'asleep'"),
        ({"stat": "dead"}, 400, "Unknown parameter 'stat': did you mean state?"),
        ([("limit", "1"), ("limit", "2")], 400, "The parameter limit is given twice."),
        ({"cursor": "nonsense"}, 422, "This cursor is not one that a listing gave"),
        ({"cursor": "k6RkZWFkkgEC", "state": "active"}, 422, "cursor"),
        ({"queue": "a\0b"}, 422, "The name of a queue has printable characters only"),
        ({"task": ""}, 422, "The name of a task is a text of 1 to 128 characters"),
    ],
)
async def test_a_listing_says_what_is_wrong_with_what_was_asked(
    api: Served, params: Any, status: int, said: str
) -> None:
    answer = await api.get("jobs", params=params)
    assert (answer.status, said in answer.detail) == (status, True), answer


async def test_a_result_is_202_until_there_is_one(api: Served, shop: Shop) -> None:
    id = await api.enqueue("add", 1)
    waiting = await api.get(f"jobs/{id}/result")
    assert waiting.status == 202
    assert waiting.json == {"id": id, "state": "pending", "result": None, "error": None}
    await work(shop, EVERY_QUEUE)
    done = await api.get(f"jobs/{id}/result")
    assert done.status == 200
    assert done.json == {"id": id, "state": "completed", "result": 3, "error": None}


async def test_the_result_of_a_dead_job_is_its_error(api: Served, shop: Shop) -> None:
    id = await api.enqueue("refuse", "no")
    await work(shop)
    answer = await api.get(f"jobs/{id}/result", params={"wait": "5"})
    assert (answer.status, answer.json["state"]) == (200, "dead")
    assert answer.json["error"]["message"] == "no"


async def test_a_long_poll_wakes_when_a_worker_has_finished_the_job(
    api: Served, shop: Shop, working: Working
) -> None:
    id = await api.enqueue("gate")
    waiting = [
        asyncio.create_task(api.get(f"jobs/{id}/result", params={"wait": "60"})) for _ in range(20)
    ]
    async with working():
        await shop.entered.wait()
        assert not any(task.done() for task in waiting)
        shop.opened.set()
        answers = await asyncio.gather(*waiting)
    assert {(each.status, each.json["result"]) for each in answers} == {(200, "through")}


async def test_a_long_poll_whose_time_is_over_is_202(api: Served) -> None:
    id = await api.enqueue("greet", "Ada")
    answer = await api.get(f"jobs/{id}/result", params={"wait": "0.05"})
    assert (answer.status, answer.json["state"]) == (202, "pending")


async def test_nobody_waits_longer_than_the_server_allows(serve: Serve, shop: Shop) -> None:
    api = await serve(shop, max_wait=0.05)
    id = await api.enqueue("greet", "Ada")
    answer = await api.get(f"jobs/{id}/result", params={"wait": "1e9"})
    assert answer.status == 202


async def test_a_long_poll_for_a_job_that_is_deleted_is_404(api: Served) -> None:
    id = await api.enqueue("greet", "Ada")
    waiting = asyncio.create_task(api.get(f"jobs/{id}/result", params={"wait": "60"}))
    await until(lambda: id in api.site.watcher._watched)
    assert (await api("DELETE", f"jobs/{id}")).status == 204
    assert (await waiting).status == 404


async def test_a_client_that_leaves_is_waited_for_no_longer(api: Served) -> None:
    id = await api.enqueue("greet", "Ada")
    waiting = asyncio.create_task(api.get(f"jobs/{id}/result", params={"wait": "60"}))
    await until(lambda: id in api.site.watcher._watched)
    waiting.cancel()
    await until(lambda: id not in api.site.watcher._watched)


@pytest.mark.parametrize("wait", ["-1", "soon", "nan", "-inf"])
async def test_a_wait_is_a_number_of_seconds(api: Served, wait: str) -> None:
    id = await api.enqueue("greet", "Ada")
    assert (await api.get(f"jobs/{id}/result", params={"wait": wait})).status == 400


async def test_progress_is_in_the_words_of_the_handler(
    api: Served, shop: Shop, working: Working
) -> None:
    id = await api.enqueue("climb")
    assert (await api.get(f"jobs/{id}/progress")).json["progress"] is None
    async with working():
        await shop.entered.wait()
        async with asyncio.timeout(20):
            while (answer := (await api.get(f"jobs/{id}/progress")).json)["progress"] is None:
                await asyncio.sleep(0.01)
    assert answer["state"] == "active"
    assert answer["progress"] == {"percent": 40.0, "message": "the hard part is over"}


async def test_why_tells_what_a_job_waits_for(api: Served) -> None:
    id = await api.enqueue("add", 1)
    why = (await api.get(f"jobs/{id}/why")).json
    assert (why["id"], why["state"], why["code"]) == (id, "pending", "no_worker")
    await api.post("queues/sums/pause")
    assert (await api.get(f"jobs/{id}/why")).json["code"] == "paused"
