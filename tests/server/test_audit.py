"""What operators did, written down."""

import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.server.conftest import Serve
from tests.server.serving import EVERY_QUEUE, Served
from tests.server.shop import Shop
from windlass import chain
from windlass.core.apikey import Role
from windlass.core.workers import WorkerInfo
from windlass.errors import ConfigError
from windlass.server.audit import Audit
from windlass.server.caller import ANYONE
from windlass.server.http.routes import ROUTES
from windlass.testing.work import work

AUDITED = {row.name for row in ROUTES if row.role in (Role.OPERATE, Role.ADMIN)}
SCHEDULE = {"text": "0 9 * * *", "job": {"task": "refuse"}}


def lines(path: Path) -> list[Mapping[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


async def act(api: Served, shop: Shop, key: str) -> None:
    """Every change that an operator can make, once."""

    async def do(method: str, path: str, body: Any = None) -> None:
        answer = await api(method, path, body, key=key)
        assert answer.status < 300, (path, answer)

    async def dead() -> str:
        id = await api.enqueue("refuse", "no", key=key)
        await work(shop, EVERY_QUEUE)
        return id

    await do("POST", f"jobs/{await api.enqueue('add', 1, key=key)}/cancel")
    await do("POST", f"jobs/{await dead()}/replay")
    await do("POST", f"jobs/{await api.enqueue('add', 1, key=key)}/reschedule", {"delay": 60})
    await do("POST", f"jobs/{await api.enqueue('add', 1, key=key)}/priority", {"priority": 9})
    await do("DELETE", f"jobs/{await api.enqueue('add', 1, key=key)}")
    await do("POST", "jobs/bulk", {"action": "cancel", "where": {"queue": "sums"}})
    for action in ("pause", "resume", "purge"):
        await do("POST", f"queues/sums/{action}")
    await do("POST", "dead/replay", {})
    await do("POST", "dead/delete", {})
    await do("PUT", "cron/daily", SCHEDULE)
    for action in ("pause", "resume", "trigger"):
        await do("POST", f"cron/daily/{action}")
    await do("PATCH", "cron/daily", {"text": "@daily"})
    await do("DELETE", "cron/daily")
    await api.store.beat(WorkerInfo("w", "host", 1, ("none",), 1, 0), 60_000)
    for action in ("quiet", "resume", "stop"):
        await do("POST", f"workers/w/{action}")
    step = shop.tasks["refuse"].step
    flow = await shop.aenqueue_workflow(chain(step("no")))
    await work(shop, EVERY_QUEUE)
    await do("POST", f"workflows/{flow.id}/retry")
    await do("POST", f"workflows/{flow.id}/cancel")


async def test_every_change_is_a_line_in_the_file_and_in_the_log(
    serve: Serve, shop: Shop, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "audit.jsonl"
    api = await serve(shop, audit_log=str(path))
    key = await api.add_key("admin")
    with caplog.at_level(logging.INFO, "windlass.audit"):
        await act(api, shop, key)
    written = lines(path)
    assert {line["action"] for line in written} == AUDITED
    assert {line["outcome"] for line in written} == {"done"}
    assert {line["caller"] for line in written} == {key.split("_")[1]}
    assert {line["address"] for line in written} == {"127.0.0.1"}
    assert all(line["at"].endswith("Z") and line["target"] for line in written)
    logged = [record for record in caplog.records if record.name == "windlass.audit"]
    assert [json.loads(record.getMessage()) for record in logged] == written
    assert key not in path.read_text("utf-8")


async def test_every_refusal_is_a_line_too(serve: Serve, tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    api = await serve(audit_log=str(path))
    key = await api.add_key("read")
    rows = [row for row in ROUTES if row.name in AUDITED]
    for row in rows:
        address = row.path.replace("{id}", "none").replace("{name}", "none")
        assert (await api(row.method, address, key=key)).status == 403
        assert (await api(row.method, address)).status == 401
    written = lines(path)
    assert [line["action"] for line in written] == [row.name for row in rows for _ in range(2)]
    first, second = written[0], written[1]
    assert "needs a key with the role operate" in first["outcome"]
    assert first["caller"] == key.split("_")[1]
    assert second["outcome"].startswith("This needs an API key")
    assert second["caller"] == "anyone"


async def test_what_could_not_be_done_is_written_with_the_reason(
    serve: Serve, tmp_path: Path
) -> None:
    path = tmp_path / "audit.jsonl"
    api = await serve(audit_log=str(path))
    await api.post("jobs/nobody/cancel")
    await api.post("queues/mail/purge", {"states": ["active"]})
    first, second = lines(path)
    assert (first["target"], first["outcome"]) == (
        {"id": "nobody"},
        "There is no job nobody: it never was, was deleted, or was not kept.",
    )
    assert (second["action"], second["target"]) == ("purge_queue", {"name": "mail"})


async def test_looking_and_enqueuing_are_no_actions_of_operators(
    serve: Serve, tmp_path: Path
) -> None:
    path = tmp_path / "audit.jsonl"
    api = await serve(audit_log=str(path))
    await api.enqueue("x")
    await api.get("jobs")
    assert lines(path) == []


def test_lines_are_added_to_a_file_that_is_there(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    for number in range(2):
        audit = Audit(str(path))
        audit.note(ANYONE, "::1", "pause_queue", {"queue": f"§{number}\n"})
        audit.close()
    assert [line["target"]["queue"] for line in lines(path)] == ["§0\n", "§1\n"]


def test_a_file_that_cannot_be_written_is_said_before_anything_is_served(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"audit log .* cannot be written: "):
        Audit(str(tmp_path / "missing" / "audit.jsonl"))


def test_a_full_disk_is_logged_and_undoes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    audit = Audit("/dev/full")
    audit.note(ANYONE, "::1", "pause_queue", {})
    audit.close()
    assert "the audit log cannot be written: [Errno 28] No space left" in caplog.text
