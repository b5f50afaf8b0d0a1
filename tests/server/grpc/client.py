"""A server of the gRPC API in this process, and a client: every method by its descriptor."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import grpc
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from grpc import aio
from grpc_health.v1 import health_pb2  # type: ignore[import-untyped]
from grpc_reflection.v1alpha import reflection_pb2  # type: ignore[import-untyped]

from windlass import Windlass
from windlass.config import ServerSettings
from windlass.core.apikey import new_key
from windlass.core.model import Job
from windlass.protocol import windlass_pb2 as pb
from windlass.server.grpc.server import GrpcServer
from windlass.server.site import Site, make_site
from windlass.stores.contract import Store

FILES = (pb.DESCRIPTOR, health_pb2.DESCRIPTOR, reflection_pb2.DESCRIPTOR)
METHODS: Sequence[MethodDescriptor] = [
    method
    for file in FILES
    for service in file.services_by_name.values()
    for method in service.methods
]
"""Every method of every service that is served."""

PATIENCE = 30.0
QUIET: dict[str, Any] = {"http_port": 0, "grpc_port": 0}


def named(name: str) -> MethodDescriptor:
    """One of ours; its name is as in Jobs.Enqueue."""
    service, _, own = name.partition(".")
    return pb.DESCRIPTOR.services_by_name[service].methods_by_name[own]


class Client:
    """Calls methods with one key."""

    def __init__(self, channel: aio.Channel, key: str | None = None) -> None:
        self._channel = channel
        self._metadata = [] if key is None else [("x-api-key", key)]

    async def __call__(self, name: str, request: Message, timeout: float = PATIENCE) -> Any:
        """The answer to one call."""
        found = named(name)
        data = await self.raw(found, request.SerializeToString(), timeout)
        return GetMessageClass(found.output_type).FromString(data)

    def raw(self, method: MethodDescriptor, data: bytes, timeout: float | None = PATIENCE) -> Any:
        """A call that is under way; bytes go and come as they are."""
        call: Any = self._channel.unary_unary(path_of(method))
        return call(data, metadata=self._metadata, timeout=timeout)

    def stream(self, method: MethodDescriptor, data: bytes) -> Any:
        call: Any = self._channel.unary_stream(path_of(method))
        return call(data, metadata=self._metadata, timeout=PATIENCE)

    async def watch(self, *ids: str) -> AsyncGenerator[pb.WatchResponse, None]:
        call = self.stream(named("Jobs.Watch"), pb.WatchRequest(ids=ids).SerializeToString())
        try:
            async for data in call:
                yield pb.WatchResponse.FromString(data)
        finally:
            call.cancel()

    async def refusal(
        self, method: MethodDescriptor | str, request: bytes | Message = b""
    ) -> tuple[grpc.StatusCode, str]:
        """The status and the sentence; a stream that says something is taken for well."""
        found = named(method) if isinstance(method, str) else method
        data = request if isinstance(request, bytes) else request.SerializeToString()
        try:
            await self._first(found, data)
        except aio.AioRpcError as error:
            return error.code(), error.details() or ""
        return grpc.StatusCode.OK, ""

    async def _first(self, method: MethodDescriptor, data: bytes) -> None:
        if not method.server_streaming:
            await self.raw(method, data)
            return
        if method.client_streaming:
            talk: Any = self._channel.stream_stream(path_of(method))
            call = talk(iter([data]), metadata=self._metadata, timeout=PATIENCE)
        else:
            call = self.stream(method, data)
        if await call.read() is not aio.EOF:
            call.cancel()

    async def enqueue(self, task: str = "send", payload: bytes | None = None, **rest: Any) -> str:
        """The id of a job that was stored."""
        if payload is not None:
            rest |= {"payload": payload, "content_type": rest.get("content_type", "json")}
        job = pb.NewJob(task=task, **rest)
        answer = await self("Jobs.Enqueue", pb.EnqueueRequest(job=job))
        id: str = answer.receipt.id
        return id

    async def fetch(self, *queues: str, **rest: Any) -> list[pb.FetchedJob]:
        """Jobs that were fetched by a worker `w`."""
        shares = [pb.Share(queue=queue) for queue in queues or ("default",)]
        asked: dict[str, Any] = {"worker": "w", "queues": shares, "limit": 10}
        request = pb.FetchRequest(**(asked | rest))
        answer = await self("Work.Fetch", request)
        return list(answer.jobs)

    async def ack(self, *jobs: pb.FetchedJob, result: bytes | None = None) -> list[str]:
        done = [pb.Done(lease=job.lease, result=result) for job in jobs]
        return list((await self("Work.Ack", pb.AckRequest(jobs=done))).ids)

    async def nack(self, job: pb.FetchedJob, **rest: Any) -> list[str]:
        failed = pb.Failed(lease=job.lease, **({"kind": "Boom", "message": "no"} | rest))
        return list((await self("Work.Nack", pb.NackRequest(jobs=[failed]))).ids)

    async def job(self, id: str) -> pb.Job:
        (found,) = (await self("Jobs.Get", pb.GetRequest(ids=[id]))).jobs
        assert isinstance(found, pb.Job)
        return found


class Served:
    """A running server of the gRPC API alone; `client` has no key."""

    def __init__(self, site: Site, connect: Callable[[str | None], Client]) -> None:
        self.site = site
        self.server = GrpcServer(site)
        self.connect = connect

    @property
    def client(self) -> Client:
        return self.connect(None)

    @property
    def port(self) -> int:
        return self.server.port

    @property
    def store(self) -> Store:
        return self.site.store

    async def start(self) -> None:
        await self.site.keyring.load()
        self.site.watcher.start()
        self.site.workers.start()
        await self.server.start()

    async def stop(self) -> None:
        """As `server/server.py` does."""
        self.site.draining.set()
        self.site.watcher.release()
        self.site.workers.release()
        await self.server.stop(self.site.settings.shutdown_timeout)
        await self.site.workers.stop()
        await self.site.watcher.stop()

    async def new_key(self, *roles: str, **options: Any) -> str:
        """A key that counts from now on."""
        made = new_key(roles, now=await self.store.now(), **options)
        await self.store.put_keys([made.key])
        await self.site.keyring.refresh()
        return made.text

    async def with_key(self, *roles: str, **options: Any) -> Client:
        """A client that has a key."""
        return self.connect(await self.new_key(*roles, **options))

    async def stored(self, id: str) -> Job:
        return (await self.store.get([id]))[id]


def path_of(method: MethodDescriptor) -> str:
    return f"/{method.containing_service.full_name}/{method.name}"


@asynccontextmanager
async def served(
    app: Windlass,
    *,
    has_tasks: bool = True,
    credentials: grpc.ChannelCredentials | None = None,
    **settings: Any,
) -> AsyncIterator[Served]:
    """A server for an app that the caller closes."""
    site = await make_site(app, ServerSettings(**(QUIET | settings)), has_tasks=has_tasks)
    channels: list[aio.Channel] = []

    def connect(key: str | None = None) -> Client:
        if not channels:
            place = f"127.0.0.1:{server.port}"
            if credentials is None:
                channels.append(aio.insecure_channel(place))
            else:
                channels.append(aio.secure_channel(place, credentials))
        return Client(channels[0], key)

    server = Served(site, connect)
    await server.start()
    try:
        yield server
    finally:
        for channel in channels:
            await channel.close()
        await server.stop()


async def until(condition: Callable[[], Any], seconds: float = PATIENCE) -> Any:
    """What an async function gives, once it is something."""
    async with asyncio.timeout(seconds):
        while not (found := await condition()):
            await asyncio.sleep(0.01)
    return found


async def stands(served: Served, number: int) -> None:
    """Wait until so many stand in line."""

    async def standing() -> bool:
        lines = served.site.workers.fetches._lines.values()
        return sum(len(line._waiting) for line in lines) == number

    await until(standing)
