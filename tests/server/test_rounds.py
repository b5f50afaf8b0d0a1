"""Changes to all that match, round by round: watched, stopped, and each job once."""

from typing import Any

import pytest

from tests.server.conftest import Serve
from tests.server.serving import EVERY_QUEUE, Served
from tests.server.shop import Shop
from windlass.admin import rounds
from windlass.core.states import State
from windlass.testing.work import work

Rounds = list[dict[str, Any]]


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    """A round ends after its first step, which is a small one."""
    monkeypatch.setattr(rounds, "LONGEST", 0.0)
    monkeypatch.setattr(rounds, "BATCH", 10)


async def fill(api: Served, number: int = 35) -> None:
    jobs = [
        {"task": "add", "args": [place], "labels": {"odd": str(place % 2)}, "priority": place % 3}
        for place in range(number)
    ]
    assert (await api.post("jobs/batch", {"jobs": jobs})).status == 201


async def to_the_end(api: Served, action: str, where: dict[str, Any], **options: Any) -> Rounds:
    """All rounds of a change, as a page would make them."""
    done: Rounds = []
    cursor = None
    while not done or done[-1]["more"]:
        asked = {"action": action, "where": where, "cursor": cursor, **options}
        answer = await api.post("jobs/bulk", asked)
        assert answer.status == 200, answer
        done.append(answer.json)
        cursor = answer.json["cursor"]
        assert (cursor is None) == (not answer.json["more"])
        assert len(done) < 100
    return done


def total(done: Rounds, name: str) -> int:
    return sum(each[name] for each in done)


async def test_all_that_match_a_filter_are_changed_round_by_round(api: Served) -> None:
    await fill(api)
    done = await to_the_end(api, "cancel", {"label": ["odd=1"], "states": ["pending"]})
    assert len(done) == 4
    assert (total(done, "changed"), total(done, "left"), total(done, "looked_at")) == (17, 0, 35)
    # What there was to look at is known from the first round on, and stays.
    assert {each["of"] for each in done} == {35}
    assert await api.number(State.PENDING) == 18


async def test_a_change_is_stopped_by_not_going_on(api: Served) -> None:
    await fill(api)
    (first, *_) = [(await api.post("jobs/bulk", {"action": "cancel", "where": {}})).json]
    assert (first["changed"], first["more"], first["of"]) == (10, True, 35)
    assert await api.number(State.CANCELLED) == 10


async def test_a_dry_round_changes_nothing(api: Served) -> None:
    await fill(api)
    done = await to_the_end(api, "delete", {"label": ["odd=1"]}, dry=True)
    assert (total(done, "changed"), done[0]["of"]) == (17, 35)
    assert await api.number(State.PENDING) == 35


async def test_a_job_gets_another_time_once(api: Served) -> None:
    await fill(api)
    states = ["pending", "scheduled", "retry"]
    done = await to_the_end(api, "reschedule", {"states": states}, delay=3600)
    assert (total(done, "changed"), await api.number(State.SCHEDULED)) == (35, 35)
    # Those that are scheduled move behind each other.
    again = await to_the_end(api, "reschedule", {"states": states}, delay=7200)
    assert total(again, "changed") == 35
    due = {job["due_at"] for job in (await api.get("jobs", params={"limit": "50"})).json["jobs"]}
    assert len(due) == 1
    back = await to_the_end(api, "reschedule", {"states": states})
    assert (total(back, "changed"), await api.number(State.PENDING)) == (35, 35)


async def test_a_job_gets_another_priority_once(api: Served) -> None:
    await fill(api, 33)
    for priority, changed in ((1, 22), (1, 0), (99, 33), (0, 33)):
        done = await to_the_end(api, "priority", {}, priority=priority)
        assert total(done, "changed") == changed
    found = (await api.get("jobs", params={"limit": "50"})).json["jobs"]
    assert {job["priority"] for job in found} == {0}


async def test_what_comes_in_meanwhile_is_not_touched(
    api: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(api, 20)
    first = (await api.post("jobs/bulk", {"action": "cancel", "where": {}})).json
    later = await api.store.now() + 60_000
    await api.store.reschedule(
        [job["id"] for job in (await api.get("jobs", params={"state": "pending"})).json["jobs"]],
        due=later,
    )

    async def created_later(api: Served) -> str:
        now = await api.store.now()
        while await api.store.now() == now:
            pass
        return await api.enqueue("add", 1)

    new = await created_later(api)
    cursor: str | None = first["cursor"]
    changed = first["changed"]
    while cursor is not None:
        asked = {"action": "cancel", "where": {}, "cursor": cursor}
        done = (await api.post("jobs/bulk", asked)).json
        cursor, changed = done["cursor"], changed + done["changed"]
    assert (await api.get(f"jobs/{new}")).json["state"] == "pending"


async def test_dead_jobs_are_replayed_and_deleted_in_rounds_too(api: Served, shop: Shop) -> None:
    for number in range(25):
        await api.enqueue("refuse", "a" if number % 5 else "b", queue="q" if number % 2 else "p")
    await work(shop, EVERY_QUEUE)
    fingerprint = (await api.get("dead/groups")).json["groups"][1]["fingerprint"]
    body = {"fingerprint": fingerprint}
    first = (await api.post("dead/replay", body)).json
    assert first["more"] and first["looked_at"] == 10
    changed, cursor = first["changed"], first["cursor"]
    while cursor is not None:
        done = (await api.post("dead/replay", body | {"cursor": cursor})).json
        changed, cursor = changed + done["changed"], done["cursor"]
    assert (changed, await api.number(State.DEAD)) == (5, 20)
    while (await api.post("dead/delete", {"queue": "q"})).json["more"]:
        pass
    assert {job["queue"] for job in (await api.get("jobs?state=dead")).json["jobs"]} == {"p"}


async def test_a_key_with_queues_changes_its_own_in_rounds(api: Served) -> None:
    for queue in ("a", "b", "c"):
        for _ in range(12):
            await api.enqueue("greet", "Ada", queue=queue)
    await api.add_key("admin")
    key = await api.add_key("operate", queues=["a", "c"])
    cursor, changed = None, 0
    while True:
        asked = {"action": "cancel", "where": {"argument": ["Ada"]}, "cursor": cursor}
        done = (await api.post("jobs/bulk", asked, key=key)).json
        assert done["of"] == 24
        changed, cursor = changed + done["changed"], done["cursor"]
        if cursor is None:
            break
    assert (changed, await api.number(State.PENDING)) == (24, 12)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"action": "cancel", "where": {}, "cursor": "x"}, "not one that a listing gave"),
        ({"action": "cancel", "ids": ["x"], "cursor": "x"}, "go with where"),
        ({"action": "cancel", "ids": ["x"], "dry": True}, "go with where"),
        ({"action": "priority", "where": {}}, "priority goes with"),
        ({"action": "cancel", "where": {}, "priority": 3}, "priority goes with"),
        ({"action": "cancel", "where": {"label": ["x"]}}, "name=value"),
    ],
)
async def test_a_round_that_cannot_be_says_why(api: Served, body: Any, said: str) -> None:
    await fill(api, 3)
    answer = await api.post("jobs/bulk", body)
    assert (answer.status, said in answer.detail) == (422, True), answer.body
    assert await api.number(State.PENDING) == 3


async def test_a_dry_round_is_no_action_for_the_audit_log(
    serve: Serve, shop: Shop, caplog: pytest.LogCaptureFixture
) -> None:
    api = await serve(shop)
    await fill(api, 3)
    with caplog.at_level("INFO", "windlass.audit"):
        await api.post("jobs/bulk", {"action": "cancel", "where": {}, "dry": True})
        assert "change_many" not in caplog.text
        await api.post("jobs/bulk", {"action": "cancel", "where": {"argument": ["1"]}})
        assert "change_many" in caplog.text


async def test_what_has_left_the_states_of_the_filter_by_then_is_not_deleted(
    api: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(api, 3)
    find = api.store.find

    async def overtaken(query: Any) -> Any:
        page = await find(query)
        await api.store.cancel([page.jobs[0].id])
        return page

    monkeypatch.setattr(api.store, "find", overtaken)
    done = await to_the_end(api, "delete", {"states": ["pending"]})
    assert (total(done, "changed"), total(done, "left")) == (2, 1)
    assert await api.number(State.CANCELLED) == 1
