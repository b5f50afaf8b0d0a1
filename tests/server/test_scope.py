"""Keys that are bound to queues: what lies in others is not there for them."""

import base64
from typing import Any

import pytest

from tests.server.conftest import Serve
from tests.server.serving import EVERY_QUEUE, Served
from tests.server.shop import Shop
from tests.server.stream import following
from windlass import chain
from windlass.core.model import JobQuery
from windlass.core.states import State
from windlass.core.workers import WorkerInfo
from windlass.errors import Forbidden
from windlass.server.http.routes import ROUTES
from windlass.server.scope import ScopedStore
from windlass.testing.work import work

OURS, THEIRS = "ours", "theirs-only"
EVERYTHING = ("read", "enqueue", "work", "operate")


@pytest.fixture
async def api(serve: Serve, shop: Shop) -> Served:
    return await serve(shop)


@pytest.fixture
async def key(api: Served) -> str:
    return await api.add_key(*EVERYTHING, queues=[OURS])


@pytest.fixture
async def all_queues(api: Served, key: str) -> str:
    """A key for everything."""
    return await api.add_key("admin")


async def enqueue(api: Served, key: str, queue: str, task: str = "greet", **options: Any) -> str:
    return await api.enqueue(task, "Ada", queue=queue, key=key, **options)


async def test_jobs_can_be_stored_in_own_queues_alone(api: Served, key: str) -> None:
    assert await enqueue(api, key, OURS)
    theirs = {"task": "greet", "args": ["Ada"], "queue": THEIRS}
    ours = theirs | {"queue": OURS}
    refused = [
        await api.post("jobs", theirs, key=key),
        await api.post("jobs", {"task": "greet", "args": ["Ada"]}, key=key),
        await api.post("jobs/batch", {"jobs": [ours, theirs]}, key=key),
        await api.post("/enqueue", {"type": "greet", "payload": "Ada", "queue": THEIRS}, key=key),
        await api("PUT", "cron/x", {"text": "0 9 * * *", "job": theirs}, key=key),
        await api.post("jobs", ours | {"unique": "u", "on_conflict": "replace"}, key=key),
    ]
    assert [answer.status for answer in refused] == [403] * 6
    assert await api.number() == 1


async def test_jobs_of_others_are_not_there(api: Served, key: str, all_queues: str) -> None:
    theirs = await enqueue(api, all_queues, THEIRS)
    for method, path, body in [
        ("GET", f"jobs/{theirs}", None),
        ("GET", f"jobs/{theirs}/result", None),
        ("GET", f"jobs/{theirs}/progress", None),
        ("GET", f"jobs/{theirs}/why", None),
        ("GET", f"jobs/{theirs}/attempts", None),
        ("POST", f"jobs/{theirs}/priority", {"priority": 1}),
        ("POST", f"jobs/{theirs}/cancel", None),
        ("POST", f"jobs/{theirs}/replay", None),
        ("POST", f"jobs/{theirs}/replay", {"priority": 1}),
        ("POST", f"jobs/{theirs}/reschedule", {"delay": 9}),
        ("POST", f"jobs/{theirs}/signal", {"name": "word"}),
        ("DELETE", f"jobs/{theirs}", None),
        ("GET", f"workflows/{theirs}", None),
        ("POST", f"workflows/{theirs}/cancel", None),
        ("POST", f"workflows/{theirs}/retry", None),
    ]:
        answer = await api(method, path, body, key=key)
        assert (answer.status, answer.json["error"]) == (404, "UnknownJob"), path
    job = (await api.get(f"jobs/{theirs}", key=all_queues)).json
    assert (job["state"], job["signals"]) == ("pending", [])


async def test_listings_have_nothing_of_others(api: Served, key: str, all_queues: str) -> None:
    ours = await enqueue(api, key, OURS)
    await enqueue(api, all_queues, THEIRS)
    listed = (await api.get("jobs", key=key)).json
    assert ([job["id"] for job in listed["jobs"]], listed["cursor"]) == ([ours], None)
    assert (await api.get("jobs", params={"queue": THEIRS}, key=key)).json["jobs"] == []
    assert [queue["name"] for queue in (await api.get("queues", key=key)).json["queues"]] == [OURS]
    # As one that nobody has used.
    assert (await api.get(f"queues/{THEIRS}", key=key)).json["counts"] == {}


async def test_a_key_with_several_queues_pages_through_them_and_no_others(
    api: Served, all_queues: str
) -> None:
    names = ["a", "b", "c"]
    key = await api.add_key(*EVERYTHING, queues=names)
    made = {await enqueue(api, key, name) for name in names for _ in range(4)}
    for name in ("aa", THEIRS, "z"):
        for _ in range(4):
            await enqueue(api, all_queues, name)
    seen, cursors, cursor = [], [], None
    while True:
        params = {"limit": "3", **({"cursor": cursor} if cursor else {})}
        page = (await api.get("jobs", params=params, key=key)).json
        seen += [job["id"] for job in page["jobs"]]
        cursor = page["cursor"]
        if cursor is None:
            break
        cursors.append(base64.urlsafe_b64decode(cursor + "=="))
    assert len(seen) == 12
    assert {*seen} == made
    assert not [each for each in cursors if THEIRS.encode() in each or b"aa" in each]


async def test_a_cursor_of_another_listing_is_refused(api: Served, all_queues: str) -> None:
    key = await api.add_key("read", queues=["a", "b"])
    for queue in ("a", "b", THEIRS):
        for _ in range(2):
            await enqueue(api, all_queues, queue)
    foreign = (await api.get("jobs", params={"limit": "5"}, key=all_queues)).json["cursor"]
    place = base64.urlsafe_b64encode(b"\x92\xab" + THEIRS.encode() + b"\xc0").decode().rstrip("=")
    for cursor in (foreign, place, "x", "%00"):
        for path in ("jobs", "limits"):
            answer = await api.get(path, params={"cursor": cursor}, key=key)
            assert answer.status == 422, (path, cursor)


async def test_limits_of_others_are_not_listed(api: Served, key: str, all_queues: str) -> None:
    both = await api.add_key(*EVERYTHING, queues=[OURS, "more"])
    for queue in (OURS, "more", "nearby", THEIRS):
        for number in range(3):
            limit = {"concurrency": 1, "name": f"{queue}-{number}"}
            await enqueue(api, all_queues, queue, limit=limit)

    async def listed(key: str) -> list[str]:
        names, cursor = [], None
        while True:
            params = {"limit": "2", **({"cursor": cursor} if cursor else {})}
            page = (await api.get("limits", params=params, key=key)).json
            names += [each["name"] for each in page["limits"]]
            cursor = page["cursor"]
            if cursor is None:
                return names
            told = base64.urlsafe_b64decode(cursor + "==")
            assert key == all_queues or THEIRS.encode() not in told

    assert await listed(key) == [f"{OURS}-{number}" for number in range(3)]
    assert await listed(both) == [
        f"{queue}-{number}" for queue in ("more", OURS) for number in range(3)
    ]
    assert len(await listed(all_queues)) == 12


async def test_changes_of_many_leave_others_alone(
    api: Served, shop: Shop, key: str, all_queues: str
) -> None:
    for queue in (OURS, THEIRS):
        await enqueue(api, all_queues, queue)
        await enqueue(api, all_queues, queue, task="refuse")
    await work(shop, EVERY_QUEUE)
    groups = (await api.get("dead/groups", key=key)).json
    assert ([each["count"] for each in groups["groups"]], groups["looked_at"]) == ([1], 1)
    assert (await api.post("dead/replay", {}, key=key)).json["changed"] == 1
    everything = {"action": "delete", "where": {}}
    assert (await api.post("jobs/bulk", everything, key=key)).json["changed"] == 2
    assert (await api.post("dead/delete", {"queue": THEIRS}, key=key)).json["changed"] == 0
    ids = [job["id"] for job in (await api.get("jobs", key=all_queues)).json["jobs"]]
    done = (await api.post("jobs/bulk", {"action": "delete", "ids": ids}, key=key)).json
    assert (done["changed"], done["left"]) == (0, 2)
    assert (await api.number(State.DEAD), await api.number(State.COMPLETED)) == (1, 1)


async def test_queues_of_others_cannot_be_touched(api: Served, key: str, all_queues: str) -> None:
    await enqueue(api, all_queues, THEIRS)
    for action in ("pause", "resume", "purge"):
        assert (await api.post(f"queues/{THEIRS}/{action}", key=key)).status == 403
        assert (await api.post(f"queues/{OURS}/{action}", key=key)).status == 200
    queue = (await api.get(f"queues/{THEIRS}", key=all_queues)).json
    assert (queue["paused"], queue["counts"]) == (False, {"pending": 1})


async def test_schedules_of_others_are_not_there(api: Served, key: str, all_queues: str) -> None:
    def body(queue: str) -> Any:
        return {"text": "0 9 * * *", "job": {"task": "greet", "args": ["Ada"], "queue": queue}}

    assert (await api("PUT", "cron/theirs", body(THEIRS), key=all_queues)).status == 200
    assert (await api("PUT", "cron/ours", body(OURS), key=key)).status == 200
    listed = (await api.get("cron", key=key)).json["schedules"]
    assert [each["name"] for each in listed] == ["ours"]
    for method, path in [
        ("GET", ""),
        ("DELETE", ""),
        ("POST", "/pause"),
        ("POST", "/resume"),
        ("POST", "/trigger"),
    ]:
        assert (await api(method, f"cron/theirs{path}", key=key)).status == 404
    assert (await api("PATCH", "cron/theirs", {"text": "@daily"}, key=key)).status == 404
    assert (await api("PATCH", "cron/ours", {"job": body(THEIRS)["job"]}, key=key)).status == 403
    assert (await api("PATCH", "cron/ours", {"text": "@daily"}, key=key)).status == 200
    taken = await api("PUT", "cron/theirs", body(OURS), key=key)
    assert taken.status == 403
    assert THEIRS not in taken.detail
    assert (await api.get("cron/theirs", key=all_queues)).json["queue"] == THEIRS
    assert await api.number() == 0


async def test_workers_are_shown_with_own_queues_alone(api: Served, key: str) -> None:
    for id, queues in {"both": (f"{OURS}:3", THEIRS), "theirs": (THEIRS,), "all": ("*",)}.items():
        await api.store.beat(WorkerInfo(id, "host", 1, queues, 10, 0), 60_000)
    workers = (await api.get("workers", key=key)).json["workers"]
    assert {each["id"]: each["queues"] for each in workers} == {"both": ["ours:3"], "all": ["*"]}
    async with following(api, key=key) as stream:
        events = dict([await stream.next(), await stream.next()])
    assert THEIRS not in str(events)
    assert {each["id"] for each in events["workers"]["workers"]} == {"both", "all"}


async def test_events_have_nothing_of_others(api: Served, key: str, all_queues: str) -> None:
    ours = await enqueue(api, all_queues, OURS)
    theirs = await enqueue(api, all_queues, THEIRS)
    async with following(api, key=key) as stream:
        _, data = await stream.next()
    assert [queue["name"] for queue in data["queues"]] == [OURS]
    async with following(api, theirs, ours, key=key) as stream:
        assert await stream.next() == ("job", {"id": theirs, "state": None})
        assert (await stream.next())[1]["id"] == ours


async def test_workflows_show_the_jobs_of_own_queues(
    api: Served, shop: Shop, key: str, all_queues: str
) -> None:
    greet = shop.tasks["greet"]
    flow = await shop.aenqueue_workflow(
        chain(greet.using(queue=OURS).step("Ada"), greet.using(queue=THEIRS).step())
    )
    assert (await api.get("workflows", key=key)).json["jobs"] == []
    assert (await api.get(f"workflows/{flow.id}", key=key)).status == 404
    assert len((await api.get(f"workflows/{flow.id}", key=all_queues)).json["jobs"]) == 2


async def test_a_job_cannot_depend_on_one_that_is_not_seen(
    api: Served, key: str, all_queues: str
) -> None:
    theirs, ours = [await enqueue(api, all_queues, queue) for queue in (THEIRS, OURS)]
    job = {"task": "greet", "args": ["Ada"], "queue": OURS}
    for parent in (theirs, "nobody"):
        answer = await api.post("jobs", job | {"depends_on": [parent]}, key=key)
        assert (answer.status, answer.json["error"]) == (404, "UnknownJob")
    batch = [job | {"id": "first"}, job | {"depends_on": ["first", ours]}]
    assert (await api.post("jobs/batch", {"jobs": batch}, key=key)).status == 201


async def test_whatever_is_not_offered_to_such_a_key_is_forbidden(api: Served, key: str) -> None:
    store = api.site.store_for(api.site.keyring.identify(key))
    assert isinstance(store, ScopedStore)
    for name in ("rescue", "prune", "read_journal", "put_keys", "restore", "migrate"):
        with pytest.raises(Forbidden, match="about the whole store"):
            getattr(store, name)
    assert (await store.find(JobQuery())).jobs == []


def test_every_route_was_thought_of() -> None:
    """A new route has to be tried with such a key above, or to have nothing of queues in it."""
    tried = {
        "enqueue_job", "enqueue_jobs", "enqueue_short", "find_jobs", "change_many", "get_one",
        "delete_job", "get_result", "get_progress", "get_why", "signal_one", "cancel_job",
        "replay_job", "reschedule_job", "list_queues", "get_queue", "pause_queue", "resume_queue",
        "purge_queue", "list_dead_groups", "replay_dead", "delete_dead", "list_schedules",
        "get_schedule", "put_schedule", "delete_schedule", "pause_schedule", "resume_schedule",
        "trigger_schedule", "list_workers", "list_limits", "list_workflows", "get_workflow",
        "cancel_whole", "retry_whole", "follow", "prioritize_job", "change_schedule",
        "list_attempts",
    }  # fmt: skip
    elsewhere = {
        "search_history", "get_past", "metrics", "carry_out", "log_in", "log_out", "get_me",
        "get_overview", "get_stats", "get_trends", "quiet_worker", "resume_worker", "stop_worker",
        "export_dead", "fetch_jobs", "extend_leases", "ack_jobs", "nack_jobs", "release_jobs",
        "report_progress", "keep_checkpoints", "register_worker", "remove_worker",
    }  # fmt: skip
    nothing = {"explain_timetable", "list_tasks", "openapi", "reference", "livez", "readyz"}
    assert {row.name for row in ROUTES} == tried | elsewhere | nothing
