"""Probes and metrics."""

import asyncio

import aiohttp
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.server.conftest import Serve
from tests.server.serving import Served
from windlass import Windlass, __version__
from windlass.config import ServerSettings
from windlass.errors import StoreUnavailable
from windlass.server.http import health
from windlass.server.server import make_server


async def test_probes_need_no_key(bare: Served) -> None:
    await bare.add_key("admin")
    assert (await bare.get("/livez")).json == {"status": "alive", "version": __version__}
    assert (await bare.get("/readyz")).json == {"status": "ready", "version": __version__}


async def test_a_server_whose_store_is_away_lives_and_is_not_ready(
    bare: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away() -> None:
        raise StoreUnavailable("the engine at secret.example:5432 is gone")

    monkeypatch.setattr(bare.store, "ping", away)
    answer = await bare.get("/readyz")
    assert (answer.status, answer.json["error"]) == (503, "StoreUnavailable")
    assert "secret.example" not in answer.detail
    assert (await bare.get("/livez")).status == 200


async def test_a_store_that_hangs_is_not_ready_either(
    bare: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bare.store, "ping", asyncio.Event().wait)
    monkeypatch.setattr(health, "PATIENCE", 0.01)
    assert (await bare.get("/readyz")).status == 503


async def test_metrics_tell_of_queues_workers_and_requests(bare: Served) -> None:
    await bare.enqueue("x", queue="mail")
    await bare.enqueue("x", queue="mail", delay=60)
    await bare.get("jobs/nobody")
    answer = await bare.get("/metrics")
    assert answer.headers["Content-Type"].startswith("text/plain; version=")
    samples = {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(answer.body.decode())
        for sample in family.samples
    }
    assert samples["windlass_jobs", "mail", "pending"] == 1
    assert samples["windlass_jobs", "mail", "scheduled"] == 1
    assert samples["windlass_jobs", "dead", "mail"] == 0
    assert samples["windlass_queue_age_seconds", "mail"] >= 0
    assert samples["windlass_queue_paused", "mail"] == 0
    assert samples[("windlass_workers",)] == 0
    assert samples["windlass_http_requests_total", "/api/v1/jobs", "201", "POST"] == 2
    assert samples["windlass_http_requests_total", "/api/v1/jobs/{id}", "404", "GET"] == 1
    assert samples["windlass_http_request_seconds_count", "/api/v1/jobs", "POST"] == 2


async def test_metrics_of_a_key_with_queues_are_of_these(serve: Serve) -> None:
    bare = await serve()
    await bare.enqueue("x", queue="mail")
    await bare.enqueue("x", queue="other")
    key = await bare.add_key("read", queues=["mail"])
    text = (await bare.get("/metrics", key=key)).body.decode()
    assert 'queue="mail"' in text
    assert '"other"' not in text


async def test_a_server_is_ready_when_each_of_its_ports_listens(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = Windlass("memory://")
    settings = ServerSettings(http_port=0, grpc_port=0, upkeep=False)
    server = await make_server(app, settings, has_tasks=False)
    start, may_start = server._grpc.start, asyncio.Event()  # type: ignore[union-attr]

    async def late() -> None:
        await may_start.wait()
        await start()

    monkeypatch.setattr(server._grpc, "start", late)
    starting = asyncio.create_task(server.start())
    try:
        # All the time that it takes for one of them to listen, nobody is told that it is ready.
        await asyncio.wait([starting], timeout=0.2)
        assert server.http_port == 0
        may_start.set()
        await starting
        async with aiohttp.ClientSession() as session:
            url = f"http://127.0.0.1:{server.http_port}/readyz"
            async with session.get(url) as answer:
                assert answer.status == 200
        assert server.grpc_port
        _, writer = await asyncio.open_connection("127.0.0.1", server.grpc_port)
        writer.close()
        await writer.wait_closed()
    finally:
        may_start.set()
        await starting
        await server.stop()
        await app.aclose()
