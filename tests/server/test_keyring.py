"""Keys that come and go, and servers without any."""

import asyncio
import logging
from collections.abc import AsyncIterator

import pytest

from tests.server.conftest import Serve
from tests.server.serving import QUIET, Served
from windlass import Windlass
from windlass.config import ServerSettings
from windlass.errors import ConfigError, StoreUnavailable
from windlass.server.server import make_server


@pytest.fixture
async def app() -> AsyncIterator[Windlass]:
    app = Windlass("memory://")
    yield app
    await app.aclose()


async def test_without_keys_everybody_on_this_machine_may_do_everything(bare: Served) -> None:
    assert (await bare.post("queues/mail/pause")).status == 200


async def test_a_new_key_counts_and_closes_the_server_without_being_asked(serve: Serve) -> None:
    bare = await serve(key_refresh=0.02)
    assert (await bare.get("jobs")).status == 200
    from windlass.core.apikey import new_key

    made = new_key(["read"])
    await bare.store.put_keys([made.key])
    async with asyncio.timeout(20):
        while (await bare.get("jobs")).status != 401:
            await asyncio.sleep(0.01)
    assert (await bare.get("jobs", key=made.text)).status == 200


async def test_a_revoked_key_counts_no_longer(serve: Serve) -> None:
    bare = await serve(key_refresh=0.02)
    key, other = await bare.add_key("read"), await bare.add_key("read")
    await bare.store.drop_keys([key.split("_")[1]])
    async with asyncio.timeout(20):
        while (await bare.get("jobs", key=key)).status != 401:
            await asyncio.sleep(0.01)
    assert (await bare.get("jobs", key=other)).status == 200


async def test_once_it_has_seen_keys_a_server_stays_closed(bare: Served) -> None:
    key = await bare.add_key("admin")
    await bare.store.drop_keys([key.split("_")[1]])
    await bare.site.keyring.refresh()
    assert (await bare.get("jobs")).status == 401
    assert (await bare.get("jobs", key=key)).status == 401


async def test_an_outage_leaves_the_keys_as_they_were(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = await serve(key_refresh=0.01)
    key = await bare.add_key("read")
    asked = asyncio.Event()

    async def away() -> None:
        asked.set()
        raise StoreUnavailable("gone")

    monkeypatch.setattr(bare.store, "keys", away)
    await asked.wait()
    assert (await bare.get("jobs", key=key)).status == 200
    assert (await bare.get("jobs")).status == 401


async def test_a_key_ends_by_the_clock_of_the_store(bare: Served) -> None:
    key = await bare.add_key("read", expires_in=60_000)
    assert (await bare.get("jobs", key=key)).status == 200
    bare.site.keyring._ahead += 60_001
    assert (await bare.get("jobs", key=key)).status == 401


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
async def test_without_keys_nobody_else_can_be_let_in(app: Windlass, host: str) -> None:
    server = await make_server(app, ServerSettings(host=host, **QUIET), has_tasks=False)
    with pytest.raises(ConfigError, match="The store has no API keys"):
        await server.start()


async def test_with_keys_or_by_order_it_listens_everywhere(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        bare = await serve(host="0.0.0.0", insecure=True)
    assert "there are no API keys: everybody who reaches this server may do anything" in caplog.text
    assert (await bare.get("jobs")).status == 200
    key = await bare.add_key("read")
    assert (await bare.get("jobs")).status == 401
    caplog.clear()
    second = await serve(bare.app, host="0.0.0.0", has_tasks=False)
    assert (await second.get("jobs", key=key)).status == 200
    assert "no API keys" not in caplog.text


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 403),
        ({"Host": "evil.example:8080"}, 403),
        ({"Host": "localhost.evil.example"}, 403),
        ({"Host": "127.0.0.1.evil.example"}, 403),
        ({"Host": "192.0.2.1"}, 403),
        ({"Host": "[2001:db8::1]:80"}, 403),
        ({"Host": "localhost"}, 200),
        ({"Host": "LOCALHOST:99"}, 200),
        ({"Host": "127.9.9.9"}, 200),
        ({"Host": "[::1]:8080"}, 200),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://["}, 403),
        ({"Origin": "http://localhost:3000", "Host": "localhost:3000"}, 200),
        ({"Origin": "http://localhost:3001", "Host": "localhost:3000"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"Sec-Fetch-Site": "none"}, 200),
    ],
)
async def test_an_open_server_answers_no_pages_of_other_origins(
    bare: Served, headers: dict[str, str], status: int
) -> None:
    for path in ("jobs", "/metrics"):
        assert (await bare.get(path, headers=headers)).status == status
    assert (await bare.get("/livez", headers=headers)).status == 200


async def test_a_closed_server_trusts_the_key(bare: Served) -> None:
    key = await bare.add_key("read")
    headers = {"Host": "windlass.example", "Origin": "https://windlass.example"}
    assert (await bare.get("jobs", headers=headers, key=key)).status == 200
