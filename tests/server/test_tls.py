"""HTTPS, and clients that show a certificate of their own."""

import asyncio
import ssl
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import aiohttp
import pytest

from tests.server.conftest import Serve
from tests.server.serving import QUIET
from tests.servers.certificates import Certificates, certify
from windlass import Windlass
from windlass.config import ServerSettings
from windlass.errors import ConfigError
from windlass.server.server import make_server


@pytest.fixture(scope="module")
def made() -> Iterator[Certificates]:
    with TemporaryDirectory() as folder:
        yield certify(Path(folder))


def context(made: Certificates, *, shows: bool = False) -> ssl.SSLContext:
    trusting = ssl.create_default_context(cafile=str(made.authority))
    if shows:
        trusting.load_cert_chain(made.certificate("client"), made.key("client"))
    return trusting


def settings(made: Certificates, **more: str) -> dict[str, Any]:
    pair = {"tls_cert": str(made.certificate("server")), "tls_key": str(made.key("server"))}
    return pair | more


async def test_requests_go_over_tls(serve: Serve, made: Certificates) -> None:
    api = await serve(tls=context(made), **settings(made))
    assert (await api.post("jobs", {"task": "x"})).status == 201
    async with aiohttp.ClientSession() as stranger:
        with pytest.raises(aiohttp.ClientConnectorCertificateError):
            await stranger.get(f"{api.url}/livez")
    with pytest.raises(aiohttp.ClientError):
        async with api.session.get(f"http://127.0.0.1:{api.port}/livez"):
            pass
    assert (await api.get("/livez")).status == 200


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
async def test_no_connection_has_a_weak_cipher(
    serve: Serve, made: Certificates, version: ssl.TLSVersion
) -> None:
    tls = context(made)
    tls.minimum_version = tls.maximum_version = version
    api = await serve(tls=tls, **settings(made))
    _, writer = await asyncio.open_connection("127.0.0.1", api.port, ssl=tls)
    name, _, bits = writer.get_extra_info("cipher")
    writer.close()
    await writer.wait_closed()
    assert ("GCM" in name or "CHACHA20" in name) and bits >= 128


async def test_clients_have_to_show_a_certificate_where_it_is_asked_for(
    serve: Serve, made: Certificates
) -> None:
    asked = settings(made, tls_client_ca=str(made.authority))
    api = await serve(tls=context(made, shows=True), **asked)
    assert (await api.get("/livez")).status == 200
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=context(made))) as stranger:
        with pytest.raises(aiohttp.ClientError):
            await stranger.get(f"{api.url}/livez")
    assert (await api.get("/livez")).status == 200


async def test_a_certificate_is_no_key(serve: Serve, made: Certificates) -> None:
    asked = settings(made, tls_client_ca=str(made.authority))
    api = await serve(tls=context(made, shows=True), **asked)
    await api.add_key("read")
    assert (await api.get("jobs")).status == 401


@pytest.mark.parametrize("broken", ["tls_cert", "tls_key", "tls_client_ca"])
async def test_files_that_are_missing_or_nonsense_are_named(
    made: Certificates, tmp_path: Path, broken: str
) -> None:
    nonsense = tmp_path / "nonsense.pem"
    nonsense.write_text("not a certificate", "utf-8")
    app = Windlass("memory://")
    for path in (nonsense, tmp_path / "missing.pem"):
        asked = settings(made, tls_client_ca=str(made.authority)) | {broken: str(path)}
        server = await make_server(app, ServerSettings(**QUIET, **asked), has_tasks=False)
        with pytest.raises(ConfigError, match=f"TLS cannot be served with .*{path.name}"):
            await server.start()
    await app.aclose()


async def test_every_answer_over_tls_says_that_there_is_no_other_way(
    serve: Serve, made: Certificates
) -> None:
    api = await serve(tls=context(made), **settings(made))
    plain = await serve(api.app, has_tasks=False)
    for method, path in [
        ("GET", "/"),
        ("GET", "/docs"),
        ("GET", "/livez"),
        ("GET", "/nowhere"),
        ("GET", "jobs"),
        ("GET", "dead/export"),
        ("POST", "/logout"),
        ("HEAD", "events"),
        ("PUT", "jobs"),
    ]:
        answer = await api(method, path)
        said = [value for name, value in answer.headers.items() if name.startswith("Strict")]
        assert said == ["max-age=31536000"], path
        assert "Strict-Transport-Security" not in (await plain(method, path)).headers
    assert (await api.post("jobs", {"task": "x"})).status == 201
