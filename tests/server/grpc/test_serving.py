"""The server itself: its port, TLS, bounds, health, reflection, and how it stops."""

import asyncio
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import grpc
import pytest
from grpc import aio
from grpc_health.v1 import health_pb2  # type: ignore[import-untyped]
from grpc_reflection.v1alpha import reflection_pb2  # type: ignore[import-untyped]

from tests.server.grpc.client import METHODS, PATIENCE, Served, named, stands, until
from tests.server.grpc.conftest import Serve
from tests.servers.certificates import Certificates, certify
from windlass import Windlass
from windlass.config import ServerSettings
from windlass.errors import ConfigError
from windlass.protocol import windlass_pb2 as pb
from windlass.server.grpc.health import Health
from windlass.server.server import make_server

HEALTH = {each.name: each for each in METHODS if each.full_name.startswith("grpc.health.")}


async def health(served: Served, service: str = "") -> int:
    request = health_pb2.HealthCheckRequest(service=service)
    answer = await served.client.raw(HEALTH["Check"], request.SerializeToString())
    return int(health_pb2.HealthCheckResponse.FromString(answer).status)


async def test_health_is_told_to_everybody(bare: Served) -> None:
    await bare.with_key("admin")
    serving = health_pb2.HealthCheckResponse.SERVING
    for service in ("", "windlass.v1.Jobs", "windlass.v1.Work"):
        assert await health(bare, service) == serving
    answer = health_pb2.HealthListResponse.FromString(await bare.client.raw(HEALTH["List"], b""))
    assert {status.status for status in answer.statuses.values()} == {serving}
    nobody = health_pb2.HealthCheckRequest(service="nobody").SerializeToString()
    assert (await bare.client.refusal(HEALTH["Check"], nobody))[0] is grpc.StatusCode.NOT_FOUND


async def test_who_watches_health_learns_that_the_server_stops(bare: Served) -> None:
    watching = bare.client.stream(HEALTH["Watch"], b"")
    statuses = [await watching.read()]
    stopping = asyncio.create_task(bare.stop())
    statuses.append(await watching.read())
    assert await watching.read() is aio.EOF
    told = [health_pb2.HealthCheckResponse.FromString(each).status for each in statuses]
    response = health_pb2.HealthCheckResponse
    assert told == [response.SERVING, response.NOT_SERVING]
    await stopping


async def test_a_stop_that_begins_while_the_first_status_goes_out_is_told_too() -> None:
    draining = asyncio.Event()
    request = health_pb2.HealthCheckRequest(service="")
    watching: Any = Health((), draining).watch(cast("Any", SimpleNamespace(request=request)))
    statuses = [(await anext(watching)).status]
    draining.set()
    statuses += [each.status async for each in watching]
    response = health_pb2.HealthCheckResponse
    assert statuses == [response.SERVING, response.NOT_SERVING]


async def test_reflection_tells_what_is_served(bare: Served) -> None:
    talk: Any = bare.client._channel.stream_stream(
        "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
    )
    kind = reflection_pb2.ServerReflectionRequest
    asked = [kind(list_services=""), kind(file_containing_symbol="windlass.v1.Jobs")]
    call = talk(iter([each.SerializeToString() for each in asked]))
    first, second = [
        reflection_pb2.ServerReflectionResponse.FromString(data) async for data in call
    ]
    names = {each.name for each in first.list_services_response.service}
    assert {"windlass.v1.Jobs", "windlass.v1.Work", "grpc.health.v1.Health"} <= names
    assert second.file_descriptor_response.file_descriptor_proto


async def test_a_conversation_does_not_keep_a_server_from_stopping(bare: Served) -> None:
    talk: Any = bare.client._channel.stream_stream(
        "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
    )
    call = talk()
    await call.write(reflection_pb2.ServerReflectionRequest(list_services="").SerializeToString())
    await call.read()
    began = time.monotonic()
    await bare.stop()
    assert time.monotonic() - began < 10
    assert await call.read() is aio.EOF


async def test_what_is_under_way_is_finished_before_a_server_stops(
    bare: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, asked, enqueue = asyncio.Event(), asyncio.Event(), bare.site.offers.enqueue

    async def slow(jobs: Any) -> Any:
        asked.set()
        await held.wait()
        return await enqueue(jobs)

    monkeypatch.setattr(bare.site.offers, "enqueue", slow)
    enqueuing = asyncio.create_task(bare.client.enqueue())
    await asked.wait()
    stopping = asyncio.create_task(bare.stop())
    await until(lambda: refused(bare))
    held.set()
    id = await asyncio.wait_for(enqueuing, PATIENCE)
    await stopping
    assert id in await bare.store.get([id])


async def refused(served: Served) -> bool:
    """Whether no new call is taken any more."""
    async with aio.insecure_channel(f"127.0.0.1:{served.port}") as channel:
        call: Any = channel.unary_unary("/windlass.v1.Jobs/List")
        try:
            await call(b"", timeout=5)
        except aio.AioRpcError as error:
            return error.code() is grpc.StatusCode.UNAVAILABLE
    return False


async def test_a_request_that_takes_too_long_is_ended(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = await serve(request_timeout=0.05)

    async def stuck(jobs: Any) -> Any:
        await asyncio.Event().wait()

    monkeypatch.setattr(served.site.offers, "enqueue", stuck)
    request = pb.EnqueueRequest(job=pb.NewJob(task="t"))
    code, said = await served.client.refusal("Jobs.Enqueue", request)
    assert code is grpc.StatusCode.DEADLINE_EXCEEDED
    assert said == "The request was not carried out within 0.05 s."


async def test_a_message_that_is_too_large_is_refused(serve: Serve) -> None:
    served = await serve(max_body=2000)
    await served.client.enqueue(payload=b"x" * 1000, content_type="protobuf")
    job = pb.NewJob(task="t", payload=b"x" * 2000, content_type="protobuf")
    code, _ = await served.client.refusal("Jobs.Enqueue", pb.EnqueueRequest(job=job))
    assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert await health(served)


async def test_calls_at_the_same_time_are_limited(serve: Serve) -> None:
    served = await serve(max_connections=2)
    request = pb.FetchRequest(worker="w", queues=[pb.Share(queue="a")], wait_ms=20_000)
    calls = [served.client.raw(named("Work.Fetch"), request.SerializeToString()) for _ in range(2)]
    await stands(served, 2)

    async def exhausted() -> bool:
        code, _ = await served.client.refusal("Jobs.List")
        return code is grpc.StatusCode.RESOURCE_EXHAUSTED

    assert await exhausted()
    for call in calls:
        call.cancel()

    async def free() -> bool:
        return not await exhausted()

    await until(free)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return certify(tmp_path_factory.mktemp("tls"))


def tls(certificates: Certificates, *, client: bool) -> grpc.ChannelCredentials:
    pair: dict[str, bytes] = {}
    if client:
        pair["private_key"] = certificates.key("client").read_bytes()
        pair["certificate_chain"] = certificates.certificate("client").read_bytes()
    authority = certificates.authority.read_bytes()
    return grpc.ssl_channel_credentials(root_certificates=authority, **pair)


def files(certificates: Certificates) -> dict[str, str]:
    return {
        "tls_cert": str(certificates.certificate("server")),
        "tls_key": str(certificates.key("server")),
    }


async def test_tls_is_spoken_and_nothing_else(serve: Serve, certificates: Certificates) -> None:
    credentials = tls(certificates, client=False)
    served = await serve(credentials=credentials, **files(certificates))
    assert await served.client.enqueue()
    async with aio.insecure_channel(f"127.0.0.1:{served.port}") as channel:
        call: Any = channel.unary_unary("/windlass.v1.Jobs/List")
        with pytest.raises(aio.AioRpcError) as raised:
            await call(b"", timeout=10)
        assert raised.value.code() is grpc.StatusCode.UNAVAILABLE


async def test_clients_can_be_asked_for_a_certificate(
    serve: Serve, certificates: Certificates
) -> None:
    settings = files(certificates) | {"tls_client_ca": str(certificates.authority)}
    known = await serve(credentials=tls(certificates, client=True), **settings)
    assert await known.client.enqueue()
    stranger = await serve(credentials=tls(certificates, client=False), **settings)
    code, _ = await stranger.client.refusal("Jobs.List")
    assert code is grpc.StatusCode.UNAVAILABLE


async def test_a_certificate_that_cannot_be_read_is_told(serve: Serve, tmp_path: Path) -> None:
    missing = str(tmp_path / "nowhere.pem")
    with pytest.raises(ConfigError, match="A file for TLS cannot be read"):
        await serve(tls_cert=missing, tls_key=missing)


async def test_a_port_that_is_taken_is_told(serve: Serve) -> None:
    first = await serve()
    with pytest.raises(ConfigError, match="Nothing can listen for gRPC on"):
        await serve(grpc_port=first.port)


async def test_a_host_in_brackets_is_not_needed(serve: Serve) -> None:
    served = await serve(host="::1")
    async with aio.insecure_channel(f"[::1]:{served.port}") as channel:
        call: Any = channel.unary_unary("/windlass.v1.Jobs/Cancel")
        await call(pb.CancelRequest(ids=["a"]).SerializeToString())


async def test_the_whole_server_has_it_unless_told_otherwise() -> None:
    app = Windlass("memory://")
    server = await make_server(app, ServerSettings(http_port=0, grpc_port=0, upkeep=False))
    await server.start()
    async with aio.insecure_channel(f"127.0.0.1:{server.grpc_port}") as channel:
        call: Any = channel.unary_unary("/windlass.v1.Jobs/List")
        await call(b"")
    await server.stop()
    server = await make_server(app, ServerSettings(http_port=0, grpc_port=-1, upkeep=False))
    assert server.grpc_port is None
    await app.aclose()
