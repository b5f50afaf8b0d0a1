"""What is logged, what never is, and what an answer says of faults inside."""

import asyncio
import logging
from typing import Any

import pytest

from tests.server.conftest import Serve
from tests.server.serving import EVERY_QUEUE, Served
from tests.server.shop import Shop
from windlass.errors import StoreUnavailable
from windlass.testing.work import until, work

MARK = "hush-2718281828"


@pytest.fixture(autouse=True)
def _everything(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)


async def logged(caplog: pytest.LogCaptureFixture, text: str) -> None:
    """Lines come a moment after the answers."""
    await until(lambda: text in caplog.text)


async def test_neither_payloads_nor_keys_are_logged(
    serve: Serve, shop: Shop, caplog: pytest.LogCaptureFixture
) -> None:
    api = await serve(shop)
    key = await api.add_key("admin")
    secret = key.split("_", 2)[2]
    job = {"task": "greet", "args": [MARK]}
    requests: list[tuple[str, str, Any]] = [
        ("POST", "jobs", job),
        ("POST", "jobs", {"task": "greet", "args": [MARK, MARK]}),
        ("POST", "jobs", {"task": "greet", "kwargs": {"nam": MARK}}),
        ("POST", "jobs", {"task": "add", "args": [MARK]}),
        ("POST", "jobs", {"task": "greet", "args": MARK}),
        ("POST", "jobs", job | {"content_type": "protobuf"}),
        ("POST", "jobs/batch", {"jobs": [job]}),
        ("POST", "/enqueue", {"type": "greet", "payload": MARK}),
        ("PUT", "cron/daily", {"text": "0 9 * * *", "job": job}),
        ("GET", f"jobs?task={MARK}", None),
        ("GET", f"jobs/{MARK}", None),
    ]
    for method, path, body in requests:
        await api(method, path, body, key=key)
    refused = await api.enqueue("refuse", "no", key=key)
    await work(shop, EVERY_QUEUE)
    await api.post(f"jobs/{refused}/replay", {"args": [MARK, MARK]}, key=key)
    await api.post(f"jobs/{refused}/replay", {"args": [MARK]}, key=key)
    await api.post(f"jobs/{refused}/signal", {"name": "word", "value": MARK}, key=key)
    await api.get("jobs", headers={"Authorization": f"Bearer {key}x"})
    await api.get("jobs", key=key[:-1] + "?")
    await logged(caplog, "GET /api/v1/jobs 401")
    assert "POST /api/v1/jobs 201" in caplog.text
    assert "GET /api/v1/jobs/{id} 404" in caplog.text
    assert MARK not in caplog.text
    assert secret not in caplog.text
    assert secret[:-1] not in caplog.text


async def test_a_line_tells_route_status_time_and_who(
    bare: Served, caplog: pytest.LogCaptureFixture
) -> None:
    key = await bare.add_key("read")
    await bare.get("jobs/nobody", key=key)
    await logged(caplog, "404")
    (line,) = [each.getMessage() for each in caplog.records if each.name == "windlass.http"]
    before, _, after = line.partition(" 404 ")
    assert before == "GET /api/v1/jobs/{id}"
    assert after.endswith(f" ms {key.split('_')[1]}")


async def test_the_log_of_requests_can_be_switched_off(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    bare = await serve(access_log=False)
    for _ in range(3):
        await bare.get("jobs")
    assert not [each for each in caplog.records if each.name == "windlass.http"]


async def test_what_nobody_expected_is_500_without_a_word_of_it(
    bare: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(*_: object) -> None:
        raise ZeroDivisionError(f"something about {MARK}")

    monkeypatch.setattr(bare.store, "queues", broken)
    answer = await bare.get("queues")
    assert answer.status == 500
    assert answer.detail == "The server failed to carry this out; its log says why."
    assert (answer.json["error"], answer.json["type"]) == ("ServerError", "/docs#server-error")
    assert MARK.encode() not in answer.body
    assert "GET /api/v1/queues failed" in caplog.text
    assert "ZeroDivisionError: something about" in caplog.text
    assert (await bare.get("/readyz")).status == 200


async def test_a_time_out_of_something_inside_is_no_time_out_of_the_request(
    bare: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def slow(*_: object) -> None:
        raise TimeoutError("of a socket")

    monkeypatch.setattr(bare.store, "queues", slow)
    assert (await bare.get("queues")).status == 500
    monkeypatch.setattr(bare.store, "get", slow)
    assert (await bare.get("jobs/x/result", params={"wait": "1"})).status == 500


async def test_an_outage_is_503_on_every_route_that_needs_the_store(
    bare: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def away(*_: object, **__: object) -> None:
        raise StoreUnavailable(f"PostgreSQL at {MARK}:5432 does not answer")

    for method in ("insert", "get", "find", "queues", "schedules", "workers", "lanes", "ping"):
        monkeypatch.setattr(bare.store, method, away)
    for method, path, body in [
        ("POST", "jobs", {"task": "x"}),
        ("POST", "jobs/batch", {"jobs": [{"task": "x"}] * 2}),
        ("POST", "/enqueue", {"type": "x"}),
        ("GET", "jobs", None),
        ("GET", "jobs/x", None),
        ("GET", "jobs/x/result?wait=1", None),
        ("POST", "jobs/x/cancel", None),
        ("GET", "queues", None),
        ("GET", "dead/groups", None),
        ("GET", "cron", None),
        ("GET", "workers", None),
        ("GET", "limits", None),
        ("GET", "/metrics", None),
        ("GET", "/readyz", None),
    ]:
        answer = await bare(method, path, body)
        assert (answer.status, answer.json["error"]) == (503, "StoreUnavailable"), path
        assert MARK not in answer.detail
    assert (await bare.get("/livez")).status == 200
    # Those who run the server are told where it is.
    assert f"GET /api/v1/queues failed: PostgreSQL at {MARK}:5432" in caplog.text
    assert "Traceback" not in caplog.text


async def test_a_request_that_takes_too_long_is_504(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = await serve(request_timeout=0.05)
    monkeypatch.setattr(bare.store, "queues", asyncio.Event().wait)
    answer = await bare.get("queues")
    assert (answer.status, answer.json["error"]) == (504, "Late")
    assert answer.detail == "The request was not carried out within 0.05 s."
    monkeypatch.setattr(bare.store, "get", lambda ids: asyncio.Event().wait())
    waited = await bare.get("jobs/x/result", params={"wait": "0.05"})
    assert (waited.status, waited.json["error"]) == (504, "Late")
    assert (await bare.get("/livez")).status == 200
