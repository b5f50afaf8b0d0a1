"""Dead letters: grouped by their errors, replayed and deleted together."""

from tests.server.serving import EVERY_QUEUE, Served
from tests.server.shop import Shop
from windlass.core.states import State
from windlass.testing.work import work


async def fill(api: Served, shop: Shop) -> None:
    """Three dead jobs of one fault, two of another, in two queues."""
    for number in range(3):
        await api.enqueue("refuse", f"order {number} is gone")
    for queue in ("default", "mail"):
        await api.enqueue("refuse", "the printer is on fire", queue=queue)
    await work(shop, EVERY_QUEUE)


async def test_dead_jobs_are_grouped_by_what_killed_them(api: Served, shop: Shop) -> None:
    await fill(api, shop)
    answer = (await api.get("dead/groups")).json
    assert (answer["looked_at"], answer["complete"]) == (5, True)
    first, second = answer["groups"]
    assert (first["count"], first["pattern"]) == (3, "order … is gone")
    assert (second["count"], second["pattern"]) == (2, "the printer is on fire")
    assert (first["task"], first["kind"]) == ("refuse", "Fatal")
    assert first["first_at"] <= first["last_at"]
    assert first["last_at"].endswith("Z")
    sample = (await api.get(f"jobs/{first['sample']}")).json
    assert sample["fingerprint"] == first["fingerprint"]
    assert sample["finished_at"] == first["last_at"]


async def test_groups_may_be_of_one_queue_and_task(api: Served, shop: Shop) -> None:
    await fill(api, shop)
    (group,) = (await api.get("dead/groups", params={"queue": "mail", "task": "refuse"})).json[
        "groups"
    ]
    assert group["count"] == 1
    assert (await api.get("dead/groups", params={"task": "add"})).json["groups"] == []
    assert (await api.get("dead/groups", params={"queue": "\0"})).status == 422


async def test_all_of_a_group_are_replayed(api: Served, shop: Shop) -> None:
    await fill(api, shop)
    group = (await api.get("dead/groups")).json["groups"][0]
    done = await api.post("dead/replay", {"fingerprint": group["fingerprint"]})
    assert (done.status, done.json) == (200, {"changed": 3, "left": 0, "more": False})
    assert (await api.number(State.PENDING), await api.number(State.DEAD)) == (3, 2)


async def test_all_that_match_are_deleted(api: Served, shop: Shop) -> None:
    await fill(api, shop)
    await api.enqueue("refuse", "still alive")
    assert (await api.post("dead/delete", {"queue": "mail"})).json["changed"] == 1
    limited = (await api.post("dead/delete", {"most": 2})).json
    assert limited == {"changed": 2, "left": 0, "more": True}
    assert (await api.post("dead/delete", {})).json["changed"] == 2
    assert (await api.number(State.PENDING), await api.number(State.DEAD)) == (1, 0)


async def test_what_to_do_with_the_dead_must_be_said(api: Served, shop: Shop) -> None:
    await fill(api, shop)
    for path in ("dead/replay", "dead/delete"):
        assert (await api.post(path)).status == 415
        assert (await api.post(path, {"fingerprints": "x"})).status == 400
        assert (await api.post(path, {"fingerprint": "none"})).json["changed"] == 0
    assert await api.number(State.DEAD) == 5
