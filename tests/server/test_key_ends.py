"""The end of a key is the end of all that is held by it: streams, waits, downloads and logins."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import aiohttp
import pytest
from msgspec.structs import replace

from tests.app.engines import ENGINES, url_of
from tests.server.conftest import Serve
from tests.server.serving import V1, Served
from tests.server.stream import following
from tests.server.test_login import cookie, own
from tests.server.wire import wire
from windlass import Windlass
from windlass.core.apikey import new_key
from windlass.errors import ConfigError, StoreUnavailable
from windlass.server.caller import caller_of
from windlass.server.http import dead
from windlass.server.http.door import COOKIE
from windlass.stores.remote.calls import CALLS, encode

PATIENCE = 30.0
ROLES = ("read", "work", "operate")

Hold = Callable[[Served, dict[str, str]], Coroutine[Any, Any, tuple[int, bytes]]]
"""Something that goes on for long; what came in the end: the status and the rest of the answer."""


def _asks(method: str, path: str, **options: Any) -> Hold:
    async def ask(api: Served, headers: dict[str, str]) -> tuple[int, bytes]:
        address = f"{api.url}{V1}/{path}"
        headers = headers | options.get("headers", {})
        data = options.get("data")
        async with api.session.request(method, address, headers=headers, data=data) as answer:
            return answer.status, await answer.read()

    return ask


_WAIT = encode(CALLS["wait"].arguments(queues=["quiet"], timeout=60.0))
HELD: dict[str, Hold] = {
    "events of the store": _asks("GET", "events"),
    "events of a job": _asks("GET", "events?job=held"),
    "a wait for a result": _asks("GET", "jobs/held/result?wait=60"),
    "a wait of a worker": _asks(
        "POST", "store/wait", data=_WAIT, headers={"Content-Type": "application/msgpack"}
    ),
}


async def nothing(_: Served, __: str) -> None:
    return None


async def revoke(api: Served, id: str) -> None:
    await api.store.drop_keys([id])


async def narrow(api: Served, id: str) -> None:
    (key,) = [each for each in await api.store.keys() if each.id == id]
    await api.store.put_keys([replace(key, queues=("other",))])


async def held_by(api: Served, number: int) -> None:
    """Wait until so many go on."""
    async with asyncio.timeout(PATIENCE):
        while len(api.site.keyring._held) < number:
            await asyncio.sleep(0.01)


ENDS = {"revoked": (revoke, None), "expired": (nothing, 1_500), "narrowed": (narrow, None)}


@pytest.mark.parametrize("end", ENDS)
async def test_all_that_is_held_by_a_key_ends_with_it(serve: Serve, end: str) -> None:
    bare = await serve(key_refresh=0.05)
    how, lasts = ENDS[end]
    other = await bare.add_key("admin")
    await bare.enqueue("x", id="held", key=other)
    key = await bare.add_key(*ROLES, expires_in=lasts)
    async with asyncio.TaskGroup() as group:
        tasks = {
            name: group.create_task(hold(bare, {"X-API-Key": key})) for name, hold in HELD.items()
        }
        stays = asyncio.create_task(HELD["a wait for a result"](bare, {"X-API-Key": other}))
        await held_by(bare, len(HELD) + 1)
        await how(bare, key.split("_")[1])
        async with asyncio.timeout(5 + (lasts or 0) / 1000):
            answers = {name: await task for name, task in tasks.items()}
    for name, (status, body) in answers.items():
        if name.startswith("events"):
            assert status == 200 and b"event:" in body, name
        else:
            assert status == 401 and b"revoked or expired" in body, name
    # That of another key goes on.
    assert not stays.done()
    assert (await bare.post("jobs/held/cancel", key=other)).status == 200
    assert (await stays)[0] == 200


async def test_what_is_held_without_a_key_ends_when_there_is_one(serve: Serve) -> None:
    bare = await serve(key_refresh=0.05)
    async with following(bare) as stream:
        await held_by(bare, 1)
        await bare.store.put_keys([new_key(["admin"]).key])
        async with asyncio.timeout(5):
            await stream.rest()
    assert (await bare.get("events")).status == 401


async def test_an_expired_key_holds_nothing_through_an_outage(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = await serve(key_refresh=0.05)
    key = await bare.add_key("read", expires_in=1_500)

    async def away() -> None:
        raise StoreUnavailable("gone")

    async with following(bare, key=key) as stream:
        await stream.next()
        monkeypatch.setattr(bare.store, "keys", away)
        async with asyncio.timeout(10):
            await stream.rest()


async def test_a_download_is_cut_off_and_seen_to_be(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = await serve(key_refresh=0.05)
    key = await bare.add_key("operate")
    asked = asyncio.Event()

    async def parts(*_: Any) -> Any:
        while True:
            yield b"{}\n"
            asked.set()
            await asyncio.sleep(0.05)

    monkeypatch.setattr(dead, "_exported", parts)
    address = f"{bare.url}{V1}/dead/export"
    async with bare.session.get(address, headers={"X-API-Key": key}) as answer:
        await asked.wait()
        await bare.store.drop_keys([key.split("_")[1]])
        async with asyncio.timeout(5):
            with pytest.raises(aiohttp.ClientPayloadError):
                await answer.read()


async def test_an_event_stream_ends_with_the_login_that_opened_it(serve: Serve) -> None:
    bare = await serve(key_refresh=0.05)
    key = await bare.add_key("read")
    ended, other = await cookie(bare, key), await cookie(bare, key)
    async with asyncio.TaskGroup() as group:
        mine = group.create_task(HELD["events of the store"](bare, ended))
        theirs = asyncio.create_task(HELD["events of the store"](bare, other))
        await held_by(bare, 2)
        assert (await bare.post("/logout", headers=ended | own(bare))).status == 204
        async with asyncio.timeout(5):
            assert (await mine)[0] == 200
    assert not theirs.done()
    theirs.cancel()


async def test_a_stolen_cookie_is_dead_after_the_logout(serve: Serve) -> None:
    one = await serve(key_refresh=0.05)
    two = await serve(one.app, has_tasks=False, key_refresh=0.05)
    key = await one.add_key("operate")
    await two.site.keyring.refresh()
    stolen, other = await cookie(one, key), await cookie(one, key)
    assert (await two.get("jobs", headers=stolen)).status == 200
    assert (await one.post("/logout", headers=stolen | own(one))).status == 204
    assert (await one.get("jobs", headers=stolen)).status == 401
    async with asyncio.timeout(5):
        while (await two.get("jobs", headers=stolen)).status != 401:
            await asyncio.sleep(0.01)
    third = await serve(one.app, has_tasks=False)
    for server in (one, two, third):
        assert (await server.get("jobs", headers=stolen)).status == 401
        # One logs out of one browser, and the key stays as it is.
        assert (await server.get("jobs", headers=other)).status == 200
        assert (await server.get("jobs", key=key)).status == 200
        assert (await server.post("/logout", headers=stolen | own(server))).status == 204


async def test_a_logout_that_the_store_cannot_be_told_counts_here_and_is_no_success(
    bare: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    login = await cookie(bare, await bare.add_key("read"))

    async def away(_: object) -> None:
        raise StoreUnavailable("gone")

    monkeypatch.setattr(bare.store, "end_logins", away)
    assert (await bare.post("/logout", headers=login | own(bare))).status == 503
    await bare.site.keyring.refresh()
    assert (await bare.get("jobs", headers=login)).status == 401


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": "null"},
        {"Origin": "http://evil.example.org"},
        {"Origin": "http://127.0.0.1.evil.example.org"},
    ],
)
async def test_no_page_of_others_logs_anybody_out(bare: Served, headers: dict[str, str]) -> None:
    login = await cookie(bare, await bare.add_key("read"))
    answer = await bare.post("/logout", headers=login | headers)
    assert answer.status == 403 and "Set-Cookie" not in answer.headers
    assert (await bare.get("jobs", headers=login)).status == 200
    foreign = await bare.post("/logout", headers={"Origin": "http://evil.example.org"})
    assert foreign.status == 403


async def test_who_logs_out_a_thousand_times_has_no_login_left(
    bare: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("windlass.server.keyring.MOST_ENDED", 3)
    key, neighbour = await bare.add_key("read"), await bare.add_key("read")
    others = await cookie(bare, neighbour)
    logins = [await cookie(bare, key) for _ in range(6)]
    for login in logins[:5]:
        assert (await bare.post("/logout", headers=login | own(bare))).status == 204
    assert len(await bare.store.ended_logins()) <= 4
    await bare.site.keyring.refresh()
    assert (await bare.get("jobs", headers=logins[5])).status == 401
    assert (await bare.get("jobs", headers=others)).status == 200
    assert (await bare.get("jobs", key=key)).status == 200


async def test_a_login_lasts_a_week_at_the_most(serve: Serve) -> None:
    with pytest.raises(ConfigError, match="a week"):
        await serve(session=8 * 24 * 3600.0)


@pytest.fixture(params=ENGINES)
def url(request: pytest.FixtureRequest, tmp_path: Any) -> str:
    return url_of(request, tmp_path)


@pytest.mark.parametrize("how", ["revoked", "expired"])
async def test_a_server_whose_keys_are_gone_stays_closed_after_a_restart(
    serve: Serve, url: str, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    app = Windlass(url)
    try:
        store = await app.client.store()
        made = new_key(["admin"], now=await store.now() - 10, expires_in=5)
        await store.put_keys([made.key])
        login = f"{COOKIE}=wls_{made.key.id}_{'A' * 132}"
        if how == "revoked":
            assert await store.drop_keys([made.key.id]) == {made.key.id}
        api = await serve(app, has_tasks=False)
        for headers in ({}, {"X-API-Key": made.text}, {"Cookie": login}):
            assert (await api.get("jobs", headers=headers)).status == 401
            changing = await api.post("queues/mail/pause", headers=headers | own(api))
            assert changing.status == 401
        assert ("all API keys were revoked" in caplog.text) == (how == "revoked")
        insecure = await serve(app, has_tasks=False, insecure=True)
        assert (await insecure.get("jobs")).status == 401
        # A key opens it again, to whoever has that.
        key = await api.add_key("read")
        assert (await api.get("jobs", key=key)).status == 200
    finally:
        await app.aclose()


async def test_event_streams_are_not_sniffed(bare: Served) -> None:
    async with following(bare) as stream:
        assert stream.answer.headers["X-Content-Type-Options"] == "nosniff"


def test_a_caller_knows_its_end() -> None:
    made = new_key(["read"], now=5, expires_in=10)
    assert (caller_of(made.key).is_keyed, caller_of(made.key).until) == (True, 15)


@pytest.mark.parametrize("path", ["jobs", "store/insert", "work/leave"])
async def test_what_is_sent_slowly_is_refused_if_the_key_ends_meanwhile(
    serve: Serve, path: str
) -> None:
    api = await serve(key_refresh=0.05)
    await api.add_key("admin")
    key = await api.add_key("enqueue", "work")
    async with wire(api) as line:
        body = b'{"task": "x", "worker": "w"}'
        head = f"POST {V1}/{path} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {key}\r\n"
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        await line.send(head.encode() + body[:5])
        async with asyncio.timeout(PATIENCE):
            while not api.server._http.connections.tasks:
                await asyncio.sleep(0.01)
        await revoke(api, key.split("_")[1])
        async with asyncio.timeout(PATIENCE):
            while key.split("_")[1] in api.site.keyring._keys:
                await asyncio.sleep(0.01)
        await line.send(body[5:])
        assert (await line.answer()).status == 401
    assert await api.number() == 0
