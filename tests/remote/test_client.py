"""The store of a client: what it gets from a real server, from a bad one, and from none."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec.structs import replace

from tests.remote.samples import SAMPLES
from tests.server.serving import Served, served
from tests.servers.certificates import certify
from tests.servers.ports import free_port
from tests.servers.proxy import forward
from windlass import Windlass
from windlass.config import ServerSettings
from windlass.core.apikey import Role
from windlass.core.ids import new_id
from windlass.core.model import NewJob, Receipt, Spec
from windlass.errors import (
    Forbidden,
    InvalidOption,
    MissingExtra,
    StoreError,
    StoreUnavailable,
    Throttled,
    Unauthenticated,
    UsageError,
    Veto,
    WindlassError,
)
from windlass.server.faults import fault_of
from windlass.server.http.serving import HttpServer
from windlass.server.procedures import PROCEDURES
from windlass.server.site import make_site
from windlass.stores.contract import Store
from windlass.stores.open import open_store
from windlass.stores.remote.calls import CALLS, encode
from windlass.stores.remote.fault import KINDS
from windlass.stores.remote.plain import warn_of_plain
from windlass.stores.remote.store import RemoteStore
from windlass.stores.remote.url import parse
from windlass.testing.jobs import new_job, put, state_of


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[RemoteStore]:
    store = open_store(url)
    assert isinstance(store, RemoteStore)
    await store.open()
    try:
        yield store
    finally:
        await store.close()


@asynccontextmanager
async def bare(**settings: Any) -> AsyncIterator[Served]:
    """A server that has a store and no app."""
    app = Windlass("memory://")
    async with served(app, has_tasks=False, **settings) as api:
        yield api
    await app.aclose()


async def canned(*answers: bytes) -> tuple[asyncio.Server, str]:
    """A server that has these answers, one for each connection, the last one again and again."""
    left = list(answers)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(left.pop(0) if len(left) > 1 else left[0])
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    return server, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}?patience=0.2&timeout=5"


def response(status: str, body: bytes = b"", *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


PONG = response("200 OK", b"\xc0")


async def test_every_procedure_asks_for_a_key_and_for_its_role() -> None:
    async with bare() as api:
        admin, reader = await api.add_key("admin"), await api.add_key("read")
        producer = await api.add_key("enqueue")
        for name, arguments in SAMPLES.items():
            body, rule = encode(CALLS[name].arguments(**arguments)), PROCEDURES[name].role
            expected = {
                None: 401,
                f"{admin[:-1]}~": 401,
                producer: 200 if rule in (None, Role.ENQUEUE) else 403,
                reader: 200 if rule in (None, Role.READ) else 403,
                admin: 200,
            }
            for key, status in expected.items():
                answer = await api.post(f"store/{name}", data=body, key=key)
                assert answer.status == status, (name, answer)


async def test_a_key_is_needed_and_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    async with bare() as api:
        key, place = await api.add_key("enqueue"), api.url.removeprefix("http://")
        with pytest.raises(Unauthenticated, match="needs an API key"):
            async with opened(api.url):
                pass
        wrong = key[:-3] + "abc"
        with pytest.raises(Unauthenticated, match="wrong, revoked or expired") as caught:
            async with opened(f"http://:{wrong}@{place}"):
                pass
        assert wrong not in str(caught.value)
        async with opened(f"http://:{key}@{place}") as store:
            assert key not in repr(store) + repr(vars(store))
            await put(store, "a")
            with pytest.raises(Forbidden, match="role read") as refused:
                await store.get(["a"])
            assert key not in str(refused.value)
        monkeypatch.setenv("WINDLASS_API_KEY", f" {key}\n")
        async with opened(api.url) as store:
            await store.now()


class Failing:
    """A store that raises what it is told to."""

    error: Exception

    async def ping(self) -> None:
        pass

    async def now(self) -> int:
        raise self.error


async def test_errors_come_as_they_were_raised() -> None:
    app, failing = Windlass("memory://"), Failing()
    site = await make_site(app, ServerSettings(http_port=0), has_tasks=False)
    server = HttpServer(site._replace(store=cast(Store, failing)))
    await server.start()
    async with opened(f"http://127.0.0.1:{server.port}?patience=0") as store:
        for kind in KINDS.values():
            failing.error = kind("The thing could not be done: do another.")
            fault = fault_of(failing.error)
            with pytest.raises(WindlassError) as caught:
                await store.now()
            assert type(caught.value) is (StoreUnavailable if fault.status == 500 else kind)
            assert str(caught.value) == fault.sentence
    await server.stop()
    await app.aclose()


async def test_a_veto_is_told_once() -> None:
    body = b'{"detail": "%s", "error": "Veto"}' % str(Veto("too late")).encode()
    server, url = await canned(PONG, response("422 Unprocessable Content", body))
    async with server, opened(url) as store:
        with pytest.raises(Veto) as caught:
            await store.insert([new_job("a")])
    assert (caught.value.reason, str(caught.value)) == ("too late", str(Veto("too late")))


async def test_an_error_of_a_newer_server_is_told_by_whose_fault_it_is() -> None:
    body = b'{"detail": "No.", "error": "FromTheFuture"}'
    server, url = await canned(PONG, response("418 I'm a teapot", body), response("507 Full", body))
    async with server, opened(url) as store:
        with pytest.raises(UsageError, match=r"^No\.$"):
            await store.now()
        with pytest.raises(StoreUnavailable, match=r"^No\.$"):
            await store.now()


async def test_too_many_requests_wait_for_their_turn() -> None:
    async with bare(rate="20/s") as api, opened(api.url) as store:
        for _ in range(30):
            await store.now()
    async with bare(rate="1/h") as api:
        with pytest.raises(Throttled) as caught:
            async with opened(api.url) as store:
                await store.now()
                await store.now()
        assert caught.value.after > 60


async def test_a_short_outage_is_not_noticed() -> None:
    port = free_port()
    store = open_store(f"http://127.0.0.1:{port}?patience=30")
    opening = asyncio.create_task(store.open())
    await asyncio.sleep(0)
    async with bare(http_port=port):
        await opening
        await put(store, "a")
    asking = asyncio.create_task(state_of(store, "a"))
    await asyncio.sleep(0)
    async with bare(http_port=port):
        assert await asking is None
        await store.close()


async def test_a_long_outage_is_told_and_the_store_works_again_afterwards() -> None:
    port = free_port()
    store = open_store(f"http://127.0.0.1:{port}?patience=0.1")
    async with bare(http_port=port):
        await store.open()
        await put(store, "a")
    with pytest.raises(StoreUnavailable, match=rf"127\.0\.0\.1:{port} .*Connection refused.*again"):
        await store.ping()
    with pytest.raises(StoreUnavailable):
        await store.wait(["default"], 30)
    async with bare(http_port=port):
        await put(store, "a")
    await store.close()


async def test_a_lost_answer_makes_no_duplicate() -> None:
    async with bare() as api:
        with forward(api.port) as proxy:
            async with opened(proxy.through(f"{api.url}/")) as store:
                proxy.drop_replies(1, b"/store/insert")
                fresh, given = replace(new_job(new_id()), fresh=True), new_job("given")
                receipts = await store.insert([fresh, given])
                assert proxy.counts.dropped == 1
                assert receipts == [Receipt(fresh.id), Receipt("given", duplicate=True)]
                assert len(await store.get([fresh.id, "given"])) == 2


async def test_connections_that_are_cut_are_made_anew() -> None:
    async with bare() as api:
        with forward(api.port) as proxy:
            async with opened(proxy.through(f"{api.url}/")) as store:
                for n in range(5):
                    await put(store, f"job-{n}")
                    proxy.cut()
                assert proxy.counts.connections == 5


async def test_a_server_that_never_answers_is_waited_for_no_longer_than_said() -> None:
    async with bare() as api:
        with forward(api.port) as proxy:
            url = proxy.through(f"{api.url}/?timeout=0.2&patience=0")
            async with opened(url) as store:
                proxy.silence()
                with pytest.raises(StoreUnavailable, match="took too long"):
                    await store.now()
                proxy.resume()
                await store.now()


async def test_a_wait_may_be_longer_than_other_calls() -> None:
    async with bare() as api, opened(f"{api.url}?timeout=0.2&patience=0") as store:
        waiting = asyncio.create_task(store.wait(["default"], 30))
        done, _ = await asyncio.wait([waiting], timeout=1)
        assert not done
        await api.store.insert([new_job("a")])
        async with asyncio.timeout(10):
            await waiting


async def test_a_wait_ends_with_the_server() -> None:
    port = free_port()
    store = open_store(f"http://127.0.0.1:{port}?patience=0.1")
    async with bare(http_port=port) as api:
        await store.open()
        waiting = asyncio.create_task(store.wait(["default"], 60))
        await asyncio.sleep(0.1)
    async with asyncio.timeout(10):
        await asyncio.gather(waiting, return_exceptions=True)
    assert api.site.draining.is_set()
    await store.close()


@pytest.mark.parametrize(
    ("answer", "kind", "text"),
    [
        (response("404 Not Found", b"<h1>Not Found"), StoreError, "no Windlass server"),
        (response("301 Moved", b"", "Location: http://elsewhere/"), StoreError, "check the URL"),
        (response("200 OK", b"<h1>Welcome"), StoreError, "cannot read.*upgrade"),
        (response("200 OK", b""), StoreError, "cannot read"),
        (response("500 Oops", b"<h1>Oops"), StoreUnavailable, "status 500"),
        (response("502 Bad Gateway", b"<h1>Bad"), StoreUnavailable, "status 502"),
        (response("413 Too Large", b"<h1>Too large"), StoreError, "status 413"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", StoreUnavailable, "did not answer as it should"),
        (b"", StoreUnavailable, "did not answer as it should"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", StoreUnavailable, "as it should"),
    ],
)
async def test_what_is_no_server_of_ours_is_told_in_a_sentence(
    answer: bytes, kind: type[Exception], text: str
) -> None:
    server, url = await canned(answer)
    async with server:
        with pytest.raises(kind, match=text) as caught:
            async with opened(url):
                pass
    assert type(caught.value) is kind
    assert str(caught.value).endswith(".") and "\n" not in str(caught.value)


async def test_a_host_that_is_nowhere_is_told() -> None:
    with pytest.raises(StoreUnavailable, match=r"windlass\.invalid:80 did not answer"):
        async with opened("http://windlass.invalid?patience=0"):
            pass


async def test_tls_with_an_authority_of_ones_own(tmp_path: Path) -> None:
    made = certify(tmp_path)
    own = {
        "tls_cert": str(made.certificate("server")),
        "tls_key": str(made.key("server")),
    }
    serve = partial(bare, tls=False, **own)
    async with serve() as api:
        async with opened(f"{api.url}?ca={made.authority}") as store:
            await put(store, "a")
        with pytest.raises(StoreError, match=r"cannot be trusted: .*\?ca=FILE") as caught:
            async with opened(api.url):
                pass
        assert not isinstance(caught.value, StoreUnavailable)
        with pytest.raises(StoreUnavailable):
            async with opened(f"{api.url.replace('https', 'http')}?patience=0"):
                pass
    async with serve(tls_client_ca=str(made.authority)) as api:
        proof = f"cert={made.certificate('client')}&cert_key={made.key('client')}"
        async with opened(f"{api.url}?ca={made.authority}&{proof}") as store:
            await put(store, "a")
        with pytest.raises(StoreUnavailable):
            async with opened(f"{api.url}?ca={made.authority}&patience=0"):
                pass


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("http://", "names a host"),
        ("http://host:99999", "a port from 1 to 65535"),
        ("http://[::1", "names a host"),
        ("http://user@host", "https://:KEY@host"),
        ("http://:@host", "https://:KEY@host"),
        ("http://:se/cret@host", "percent-encoded"),
        ("http://:se cret@host", "characters that no key has"),
        ("http://host#part", "no #"),
        ("http://host?patiense=1", "did you mean patience"),
        ("http://host?timeout=soon", "number of seconds"),
        ("http://host?timeout=0", "at least 0.05"),
        ("http://host?ca=/ca.pem", "needs TLS"),
        ("https://host?ca=/nowhere/ca.pem", "No such file"),
        ("https://host?cert_key=/key.pem", "needs cert"),
    ],
)
def test_a_url_that_cannot_be_is_refused_without_being_shown(url: str, text: str) -> None:
    with pytest.raises(InvalidOption, match=text) as caught:
        open_store(url)
    assert "cret" not in str(caught.value)


async def test_a_closed_store_says_so_and_can_be_opened_again() -> None:
    async with bare() as api:
        store = open_store(api.url)
        await store.close()
        with pytest.raises(StoreError, match="closed"):
            await store.ping()
        for _ in range(2):
            await store.open()
            await store.ping()
            await store.close()
            await store.close()


@pytest.mark.parametrize(
    ("scheme", "extra"),
    [("http", "remote"), ("https", "remote"), ("grpc", "server"), ("grpcs", "server")],
)
def test_a_missing_extra_is_named(scheme: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("windlass.stores.open.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=rf"^{scheme}:// needs .*windlass\[{extra}\]"):
        open_store(f"{scheme}://host")


async def test_jobs_that_are_large_together_come_in_several_answers() -> None:
    async with bare() as api:
        spec = Spec("work", bytes(1_000_000))
        ids = [f"job-{n}" for n in range(40)]
        for id in ids:
            await api.store.insert([NewJob(id, spec)])
        refused = await api.post("store/get", data=encode(CALLS["get"].arguments(ids)))
        assert (refused.status, "ask for fewer jobs" in refused.detail) == (413, True)
        async with opened(api.url) as store:
            found = await store.get([*ids, "nobody"])
        assert found.keys() == {*ids}


@pytest.mark.parametrize(
    ("url", "warned"),
    [
        ("http://:wl_key@jobs.example.org", True),
        ("http://:wl_key@192.0.2.7:8080", True),
        ("http://:wl_key@[2001:db8::1]:8080", True),
        ("grpc://:wl_key@jobs.example.org", True),
        ("https://:wl_key@jobs.example.org", False),
        ("http://jobs.example.org", False),
        ("http://:wl_key@localhost:8080", False),
        ("http://:wl_key@127.0.0.9:8080", False),
        ("http://:wl_key@[::1]:8080", False),
    ],
)
def test_a_key_that_goes_to_another_machine_as_it_is_is_warned_of_once(
    url: str, warned: bool, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("windlass.stores.remote.plain._told", set())
    for _ in range(3):
        warn_of_plain(parse(url))
    assert caplog.text.count("without TLS") == warned
    assert "wl_key" not in caplog.text


async def test_a_client_warns_as_it_opens(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("windlass.stores.remote.plain._told", set())
    for scheme in ("http", "grpc"):
        store = open_store(f"{scheme}://:wl_key@windlass.invalid:1?patience=0")
        with pytest.raises(StoreUnavailable):
            await store.open()
    assert caplog.text.count("windlass.invalid:1 goes there without TLS") == 1
