"""Attempts and priorities of a job, by the API."""

from tests.server.serving import Served
from windlass.core.attempts import AttemptRecord, LogLine
from windlass.core.model import Failure
from windlass.core.states import State


async def test_attempts_are_listed_with_what_they_logged(api: Served) -> None:
    id = await api.enqueue("greet", "Ada", queue="mail")
    assert (await api.get(f"jobs/{id}/attempts")).json == {"attempts": []}
    failed = AttemptRecord(
        id, "mail", 7, 1, "w-1", 1_000, 2_500, State.RETRY, Failure("ValueError", "no", "File …")
    )
    lines = (LogLine(3_001, "INFO", "shop", "hello"),)
    running = AttemptRecord(id, "mail", 9, 2, "w-2", 3_000, lines=lines, dropped=4)
    await api.store.note_attempts([running, failed], 60_000)
    assert (await api.get(f"jobs/{id}/attempts")).json["attempts"] == [
        {
            "attempt": 1,
            "fence": 7,
            "worker": "w-1",
            "started_at": "1970-01-01T00:00:01.000Z",
            "ended_at": "1970-01-01T00:00:02.500Z",
            "state": "retry",
            "error": {"kind": "ValueError", "message": "no", "traceback": "File …"},
            "lines": [],
            "dropped": 0,
        },
        {
            "attempt": 2,
            "fence": 9,
            "worker": "w-2",
            "started_at": "1970-01-01T00:00:03.000Z",
            "ended_at": None,
            "state": None,
            "error": None,
            "lines": [
                {
                    "at": "1970-01-01T00:00:03.001Z",
                    "level": "INFO",
                    "logger": "shop",
                    "text": "hello",
                }
            ],
            "dropped": 4,
        },
    ]


async def test_attempts_of_a_job_that_is_not_seen_are_not_there(api: Served) -> None:
    id = await api.enqueue("greet", "Ada", queue="mail")
    await api.store.note_attempts([AttemptRecord(id, "mail", 1, 1, "w", 1)], 60_000)
    assert (await api.get("jobs/nobody/attempts")).status == 404
    key = await api.add_key("read", queues=["bills"])
    assert (await api.get(f"jobs/{id}/attempts", key=key)).status == 404
    own = await api.add_key("read", queues=["mail"])
    assert len((await api.get(f"jobs/{id}/attempts", key=own)).json["attempts"]) == 1


async def test_a_job_that_waits_gets_another_priority(api: Served) -> None:
    first, second = await api.enqueue("greet", "Ada"), await api.enqueue("greet", "Bob")
    done = await api.post(f"jobs/{second}/priority", {"priority": 90})
    assert (done.status, done.json["priority"], done.json["state"]) == (200, 90, "pending")
    listed = (await api.get("jobs", params={"state": "pending"})).json["jobs"]
    assert [job["id"] for job in listed] == [second, first]
    for body, status in (({"priority": 101}, 400), ({"priority": -1}, 400), ({}, 400), (None, 415)):
        assert (await api.post(f"jobs/{second}/priority", body)).status == status


async def test_what_does_not_wait_keeps_its_priority(api: Served) -> None:
    id = await api.enqueue("greet", "Ada")
    await api.post(f"jobs/{id}/cancel")
    answer = await api.post(f"jobs/{id}/priority", {"priority": 1})
    assert (answer.status, "it is cancelled" in answer.detail) == (409, True)
    assert (await api.post("jobs/nobody/priority", {"priority": 1})).status == 404


async def test_many_get_another_priority(api: Served) -> None:
    ids = [await api.enqueue("greet", "Ada") for _ in range(3)]
    asked = {"action": "priority", "ids": [*ids, "nobody"], "priority": 3}
    done = (await api.post("jobs/bulk", asked)).json
    assert (done["changed"], done["left"]) == (3, 1)
    found = (await api.get("jobs")).json["jobs"]
    assert {job["priority"] for job in found} == {3}
