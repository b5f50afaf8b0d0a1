"""The dashboard inside of other apps: Starlette, FastAPI, Django."""

import asyncio
import json
import logging
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aiohttp
import fastapi
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route

import windlass.server
from tests.server.hosting import PATIENCE, Hosted, hosting
from tests.server.shop import Shop
from windlass.config import ServerSettings
from windlass.core.apikey import new_key
from windlass.errors import ConfigError, JobCancelled, MissingExtra
from windlass.server import Caller, Dashboard, dashboard
from windlass.server.farewell import Farewell

API = "/tools/windlass/api/v1"
USERS = {"ada": Caller.of("ada", "operate"), "kim": Caller.of("kim", "read", queues=["mail"])}


def home(request: Request) -> PlainTextResponse:
    return PlainTextResponse("the shop")


def starlette(board: Dashboard) -> Starlette:
    """An app that has it below a path, and starts and stops it."""
    mount = Mount("/tools", routes=[Mount("/windlass", board)])
    return Starlette(routes=[Route("/", home), mount], lifespan=board.lifespan)


def by_cookie(request: Request) -> Caller | None:
    return USERS.get(request.cookies.get("user", ""))


async def by_cookie_later(request: Request) -> Caller | None:
    await asyncio.sleep(0)
    return by_cookie(request)


def as_user(name: str) -> dict[str, str]:
    return {"Cookie": f"user={name}"}


async def test_below_a_path_of_a_starlette_app(shop: Shop) -> None:
    store = await shop.client.store()
    made = new_key(["operate"], name="Ada")
    await store.put_keys([made.key])
    async with hosting(starlette(dashboard(shop))) as site:
        assert await site.get("/") == (200, b"the shop")
        for path in ("/tools/windlass/", "/tools/windlass", "/tools/windlass/ui/jobs/a%2Fb"):
            status, page = await site.get(path)
            assert (status, b'<base href="/tools/windlass/" />' in page) == (200, True), path
        assert (await site.get("/tools/windlass/assets/favicon.svg"))[0] == 200
        assert (await site.get("/tools/windlass/assets/nothing.js"))[0] == 404
        assert (await site.get(f"{API}/queues"))[0] == 401
        assert (await site.get(f"{API}/queues", headers={"X-API-Key": made.text}))[0] == 200
        assert (await site.post("/tools/windlass/login", json={"key": made.text}))[0] == 200
        (cookie,) = site.session.cookie_jar
        assert cookie["path"] == "/tools/windlass/"
        status, me = await site.get(f"{API}/me")
        assert (status, json.loads(me)["name"]) == (200, "Ada")
        assert (await site.post(f"{API}/queues/mail/pause", headers=site.own))[0] == 200
        assert (await site.post(f"{API}/queues/mail/pause"))[0] == 403
        job = {"task": "add", "args": [1], "id": "a/b"}
        headers = {"X-API-Key": new_key(["read"]).text}
        assert (await site.post(f"{API}/jobs", json=job, headers=headers))[0] == 401
    assert not [each for each in asyncio.all_tasks() if "Keyring" in repr(each)]


async def test_workers_in_other_languages_are_served_below_a_path_too(shop: Shop) -> None:
    store = await shop.client.store()
    made = new_key(["work"])
    await store.put_keys([made.key])
    add = shop.tasks["add"].using(queue="default")
    late = await add.using(id="late", expires_at=datetime(2001, 1, 1, tzinfo=UTC)).aenqueue(1)
    await add.using(id="sum").aenqueue(1)
    async with hosting(starlette(dashboard(shop))) as site:
        headers = {"X-API-Key": made.text}
        order = {"worker": "w", "queues": ["default"], "limit": 2}
        status, body = await site.post(f"{API}/work/fetch", json=order, headers=headers)
        (job,) = json.loads(body)["jobs"]
        assert (status, job["id"], job["args"]) == (200, "sum", [1])
        done = {"jobs": [{"id": "sum", "fence": job["fence"], "result": 3}]}
        assert (await site.post(f"{API}/work/ack", json=done, headers=headers))[0] == 200
        # What no worker is to run is ended by the dashboard itself.
        with pytest.raises(JobCancelled):
            await late.aresult(timeout=PATIENCE)


@pytest.mark.parametrize("authorize", [by_cookie, by_cookie_later])
async def test_a_fastapi_app_says_who_looks(shop: Shop, authorize: Any) -> None:
    board = dashboard(shop, authorize=authorize)
    app = fastapi.FastAPI(lifespan=board.lifespan)

    @app.get("/")
    def read() -> str:
        return "the shop"

    app.mount("/windlass", board)
    async with hosting(app) as site:
        assert await site.get("/") == (200, b'"the shop"')
        status, problem = await site.get("/windlass/api/v1/me")
        assert (status, b"log in there" in problem) == (403, True)
        assert (await site.post("/windlass/login", json={"key": "x"}))[0] == 404
        me = json.loads((await site.get("/windlass/api/v1/me", headers=as_user("ada")))[1])
        assert (me["name"], me["roles"]) == ("ada", ["read", "operate"])
        assert (me["queues"], me["logged_in"]) == ([], False)
        pause = "/windlass/api/v1/queues/mail/pause"
        for user, headers, expected in (
            ("ada", site.own, 200),
            ("ada", {}, 403),
            ("ada", {"Origin": "http://evil.example.org"}, 403),
            ("kim", site.own, 403),
            ("eve", site.own, 403),
        ):
            assert (await site.post(pause, headers=as_user(user) | headers))[0] == expected
        await shop.tasks["greet"].using(queue="mail").aenqueue("Ada")
        await shop.tasks["greet"].using(queue="bills").aenqueue("Ada")
        for user, names in (("ada", ["bills", "mail"]), ("kim", ["mail"])):
            found = await site.get("/windlass/api/v1/queues", headers=as_user(user))
            assert [queue["name"] for queue in json.loads(found[1])["queues"]] == names
        # The page itself has nothing to hide.
        assert (await site.get("/windlass/"))[0] == 200


async def test_without_a_lifespan_it_starts_with_the_first_request(shop: Shop) -> None:
    board = dashboard(shop, authorize=lambda request: USERS["ada"])
    app = Starlette(routes=[Mount("/windlass", board)])
    async with hosting(app) as site:
        asked = (site.get("/windlass/api/v1/queues") for _ in range(10))
        assert {status for status, _ in await asyncio.gather(*asked)} == {200}
        assert len(board._running) == 1
        async with board.lifespan():
            pass


async def test_it_can_be_an_app_of_its_own(shop: Shop) -> None:
    async with hosting(dashboard(shop, authorize=lambda request: USERS["kim"])) as site:
        assert b'<base href="/" />' in (await site.get("/"))[1]
        assert (await site.get("/api/v1/queues"))[0] == 200


async def test_an_app_that_cannot_mount_others_has_it_in_front(shop: Shop) -> None:
    board = dashboard(shop, authorize=lambda request: USERS["ada"])
    host = Starlette(routes=[Route("/", home), Route("/windlassx", home)])
    async with hosting(board.in_front_of(host)) as site:
        assert await site.get("/") == await site.get("/windlassx") == (200, b"the shop")
        for path in ("/windlass", "/windlass/", "/windlass/ui/jobs"):
            assert b'<base href="/windlass/" />' in (await site.get(path))[1]
        assert (await site.get("/windlass/api/v1/queues"))[0] == 200
    for at in ("windlass", "/windlass/", "/", ""):
        with pytest.raises(ConfigError, match="mounted at a path such as"):
            board.in_front_of(host, at)


async def test_without_keys_and_without_a_say_nobody_gets_in(
    shop: Shop, caplog: pytest.LogCaptureFixture
) -> None:
    async with hosting(starlette(dashboard(shop))) as site:
        assert "The dashboard has no users yet" in caplog.text
        assert (await site.get("/tools/windlass/"))[0] == 200
        assert (await site.get(f"{API}/queues"))[0] == 401
        assert (await site.post("/tools/windlass/login", json={"key": "x"}))[0] == 401


async def test_it_is_open_to_everybody_only_if_told_so(
    shop: Shop, caplog: pytest.LogCaptureFixture
) -> None:
    board = dashboard(shop, settings=ServerSettings(insecure=True))
    async with hosting(starlette(board)) as site:
        assert (await site.get(f"{API}/queues", headers={"Host": "shop.example.org"}))[0] == 200
        foreign = {"Origin": "http://evil.example.org"}
        assert (await site.post(f"{API}/queues/mail/pause", headers=foreign))[0] == 403
    assert "everybody who reaches this server may do anything" in caplog.text


async def test_a_failing_say_lets_nobody_in(shop: Shop, caplog: pytest.LogCaptureFixture) -> None:
    def broken(request: Request) -> Caller:
        raise RuntimeError("the database of users is away")

    with caplog.at_level(logging.CRITICAL, "windlass.http"):
        async with hosting(dashboard(shop, authorize=broken)) as site:
            status, problem = await site.get("/api/v1/queues")
    assert (status, b"database of users" in problem) == (500, False)


async def test_signals_are_heard_and_passed_on() -> None:
    heard: list[str] = []
    before = signal.signal(signal.SIGTERM, lambda *_: heard.append("host"))
    parted = asyncio.Event()
    try:
        farewell = Farewell(parted.set)
        farewell.listen()
        signal.raise_signal(signal.SIGTERM)
        await asyncio.wait_for(parted.wait(), PATIENCE)
        assert heard == ["host"]
        farewell.forget()
        parted.clear()
        signal.raise_signal(signal.SIGTERM)
        await asyncio.sleep(0)
        assert (heard, parted.is_set()) == (["host", "host"], False)
    finally:
        signal.signal(signal.SIGTERM, before)


@asynccontextmanager
async def django(folder: Path) -> AsyncIterator[tuple[Hosted, list[str], Any]]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    program = Path(__file__).with_name("django_host.py")
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(program), str(folder), str(port), stdout=subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        async with asyncio.timeout(PATIENCE):
            sessions = (await process.stdout.readline()).decode().split()
        async with aiohttp.ClientSession() as session:
            yield Hosted(f"http://127.0.0.1:{port}", session), sessions, process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def test_a_django_project_says_who_looks(tmp_path: Path) -> None:
    async with django(tmp_path) as (site, (staff, user), process):
        assert await site.get("/") == (200, b"the shop")
        assert b'<base href="/jobs/" />' in (await site.get("/jobs/ui/dead"))[1]
        assert (await site.get("/jobs/api/v1/me"))[0] == 403
        for key, name, expected in ((staff, "ada", 200), (user, "kim", 403)):
            headers = {"Cookie": f"sessionid={key}"}
            me = json.loads((await site.get("/jobs/api/v1/me", headers=headers))[1])
            assert me["name"] == name
            status, _ = await site.post(
                "/jobs/api/v1/queues/mail/pause", headers=headers | site.own
            )
            assert status == expected
        headers = {"Cookie": f"sessionid={user}"}
        async with site.session.get(f"{site.url}/jobs/api/v1/events", headers=headers) as stream:
            assert b"event" in await stream.content.readuntil(b"event")
            process.send_signal(signal.SIGTERM)
            async with asyncio.timeout(PATIENCE):
                await process.wait()


def test_without_the_extra_the_reason_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(windlass.server, "mounted")
    monkeypatch.setitem(sys.modules, "windlass.server.mounted", None)
    with pytest.raises(MissingExtra, match=r"pip install 'windlass\[server\]'"):
        _ = windlass.server.dashboard
    with pytest.raises(AttributeError):
        _ = windlass.server.nothing


def test_a_caller_has_what_its_roles_imply() -> None:
    assert Caller.of("ada", "admin").allows > Caller.of("ada", "operate").allows
    assert Caller.of("ada").allows == frozenset()
    with pytest.raises(ValueError, match="A role is one of"):
        Caller.of("ada", "root")
