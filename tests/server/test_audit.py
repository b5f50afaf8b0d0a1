"""What operators did, written down."""

import json
import logging
import os
import resource
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.remote.samples import SAMPLES
from tests.server.conftest import Serve
from tests.server.serving import EVERY_QUEUE, Served
from tests.server.shop import Shop
from windlass import chain
from windlass.core.apikey import Role
from windlass.core.workers import WorkerInfo
from windlass.errors import ConfigError
from windlass.server.audit import BURST, EVERY, LARGEST, Audit
from windlass.server.caller import ANYONE
from windlass.server.http.routes import ROUTES
from windlass.server.procedures import PROCEDURES
from windlass.stores.remote.calls import CALLS, encode
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


def test_a_line_that_a_full_disk_cut_off_is_told_of_and_spoils_no_other(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path, full = tmp_path / "audit.jsonl", 1 << 40
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    path.touch()
    os.truncate(path, full - 10)
    audit = Audit(str(path))
    resource.setrlimit(resource.RLIMIT_FSIZE, (full, before[1]))
    try:
        audit.note(ANYONE, "::1", "first", {})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert "the audit log cannot be written: [Errno 28] No space left" in caplog.text
    audit.note(ANYONE, "::1", "second", {})
    audit.close()
    with path.open("rb") as file:
        file.seek(full)
        assert [json.loads(line)["action"] for line in file.read().split()] == ["second"]


async def test_what_is_done_and_refused_by_procedures_is_a_line_each(
    serve: Serve, tmp_path: Path
) -> None:
    path = tmp_path / "audit.jsonl"
    api = await serve(audit_log=str(path))
    admin, reader = await api.add_key("admin"), await api.add_key("read")
    audited = [name for name in SAMPLES if PROCEDURES[name].role in (Role.OPERATE, Role.ADMIN)]
    for name in audited:
        body = encode(CALLS[name].arguments(**SAMPLES[name]))
        assert (await api.post(f"store/{name}", data=body, key=reader)).status == 403
        assert (await api.post(f"store/{name}", data=b"\xc1", key=admin)).status == 400
        assert (await api.post(f"store/{name}", data=body, key=admin)).status == 200
    written = lines(path)
    unsaid = {"ended_logins", "had_keys", "read_journal", "trim_journal"}
    for name in audited:
        told = [line["outcome"] for line in written if line["action"] == name]
        assert len(told) == (2 if name in unsaid else 3), name
        assert "needs a key with the role" in told[0]
        assert "cannot be read" in told[1]
        assert name in unsaid or told[2] == "done"
    assert "keys" in audited
    assert len(written) == 3 * len(audited) - len(unsaid)


async def test_a_key_that_may_not_enqueue_or_work_is_a_line_too(
    serve: Serve, tmp_path: Path
) -> None:
    path = tmp_path / "audit.jsonl"
    api = await serve(audit_log=str(path))
    key = await api.add_key("read")
    body = encode(CALLS["insert"].arguments(**SAMPLES["insert"]))
    assert (await api.post("jobs", {"task": "x"}, key=key)).status == 403
    assert (await api.post("store/insert", data=body, key=key)).status == 403
    assert [line["action"] for line in lines(path)] == ["enqueue_job", "insert"]


async def test_what_is_done_is_not_refused_as_well(serve: Serve, tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    api = await serve(audit_log=str(path))
    id = (await api.post("jobs", {"task": "x"})).json["id"]
    other = (await api.post("jobs", {"task": "x", "keep": 0})).json["id"]
    real = api.store.get

    async def gone(ids: Any) -> Any:
        return {} if lines(path) else await real(ids)

    api.store.get = gone  # type: ignore[method-assign]
    await api.post(f"jobs/{id}/cancel")
    await api.post(f"jobs/{other}/replay", {"priority": 3})
    assert lines(path)[0]["outcome"] == "done"
    assert len([line for line in lines(path) if line["target"]["id"] == id]) == 1


async def test_callers_without_a_key_write_a_bounded_number_of_short_lines(
    serve: Serve, tmp_path: Path
) -> None:
    path = tmp_path / "audit.jsonl"
    api = await serve(audit_log=str(path))
    key = await api.add_key("read")
    for _ in range(BURST + 100):
        assert (await api.post(f"jobs/{'x' * 20_000}/cancel")).status == 401
    assert len(lines(path)) == BURST
    assert path.stat().st_size < BURST * 1_024
    assert (await api.post(f"jobs/{'x' * 20_000}/cancel", key=key)).status == 403
    assert len(lines(path)) == BURST + 1
    assert path.stat().st_size < (BURST + 1) * 1_024


def test_what_was_not_written_down_is_summed_up(tmp_path: Path) -> None:
    path, now = tmp_path / "audit.jsonl", 0.0
    audit = Audit(str(path), clock=lambda: now)
    for _ in range(BURST + 7):
        audit.note(ANYONE, "::1", "pause_queue", {}, "no")
    now = EVERY
    audit.note(ANYONE, "::1", "pause_queue", {}, "no")
    audit.note(ANYONE, "::1", "pause_queue", {}, "no")
    audit.note(ANYONE, "::1", "pause_queue", {})
    written = lines(path)[BURST:]
    assert [(each["action"], each["target"].get("number")) for each in written] == [
        ("refused", 7),
        ("pause_queue", None),
        ("pause_queue", None),
    ]
    audit.close()
    assert lines(path)[-1]["target"] == {"number": 1}


@pytest.mark.parametrize(
    "target",
    [
        {"ids": ["i" * 10_000] * 1_000},
        {str(number) * 300: "x" * 300 for number in range(200)},
        {"where": {"deep": [{"deep": ["x" * 300] * 200}] * 200}},
        {f"{number}" + "\1" * 300: "\1" * 300 for number in range(20)},
    ],
)
def test_a_line_is_bounded_whatever_it_is_about(tmp_path: Path, target: Any) -> None:
    path = tmp_path / "audit.jsonl"
    audit = Audit(str(path))
    audit.note(ANYONE, "::1", "a" * 9_000, target, "done")
    audit.note(ANYONE, "::1", "a", target, "o" * 90_000)
    audit.close()
    assert [len(line) < LARGEST + 2_048 for line in path.read_bytes().splitlines()] == [True, True]


def test_the_file_is_for_its_owner_alone_and_goes_on_after_a_rename(tmp_path: Path) -> None:
    path, kept = tmp_path / "audit.jsonl", tmp_path / "audit.jsonl.1"
    before = os.umask(0)
    try:
        path.touch(0o644)
        audit = Audit(str(path))
        audit.note(ANYONE, "::1", "first", {})
        assert path.stat().st_mode & 0o777 == 0o600
        path.rename(kept)
        audit.note(ANYONE, "::1", "second", {})
        assert path.stat().st_mode & 0o777 == 0o600
        path.unlink()
        audit.reopen()
        assert path.exists()
        audit.note(ANYONE, "::1", "third", {})
        audit.close()
    finally:
        os.umask(before)
    assert [line["action"] for line in lines(kept)] == ["first"]
    assert [line["action"] for line in lines(path)] == ["third"]
