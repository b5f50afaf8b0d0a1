"""A server in this process on a port of its own, and a client that speaks real HTTP to it."""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from io import BytesIO
from typing import Any, NamedTuple

import aiohttp

from windlass import Windlass
from windlass.config import ServerSettings, WorkerSettings
from windlass.core.apikey import ApiKey, new_key
from windlass.core.states import State
from windlass.server.server import Server, make_server
from windlass.server.site import Site
from windlass.stores.contract import Store
from windlass.testing.work import counts

V1 = "/api/v1"
QUIET: dict[str, Any] = {"http_port": 0, "grpc_port": -1, "upkeep": False}
EVERY_QUEUE = WorkerSettings(queues=("*",))
NOTHING: Mapping[str, str] = {}


class Answer(NamedTuple):
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def detail(self) -> str:
        """What a problem document says."""
        assert self.headers["Content-Type"] == "application/problem+json", self.body
        problem = self.json
        assert problem["status"] == self.status
        assert b"Traceback" not in self.body
        detail: str = problem["detail"]
        return detail


class Served:
    """A running server; call it to make a request."""

    def __init__(self, server: Server, session: aiohttp.ClientSession, scheme: str) -> None:
        self.server = server
        self.session = session
        self._scheme = scheme

    @property
    def site(self) -> Site:
        return self.server.site

    @property
    def app(self) -> Windlass:
        return self.site.app

    @property
    def store(self) -> Store:
        return self.site.store

    @property
    def port(self) -> int:
        return self.server.http_port

    @property
    def url(self) -> str:
        return f"{self._scheme}://127.0.0.1:{self.port}"

    async def __call__(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        key: str | None = None,
        headers: Mapping[str, str] = NOTHING,
        **options: Any,
    ) -> Answer:
        """One request; `body` goes as JSON, and a path without a root is one of the API."""
        sent = dict(headers)
        if key is not None:
            sent["X-API-Key"] = key
        if body is not None:
            # Not as bytes: of many at once aiohttp would warn.
            options["data"] = BytesIO(json.dumps(body).encode())
            sent.setdefault("Content-Type", "application/json")
        address = self.url + (path if path.startswith("/") else f"{V1}/{path}")
        async with self.session.request(method, address, headers=sent, **options) as answer:
            return Answer(answer.status, answer.headers, await answer.read())

    async def get(self, path: str, **options: Any) -> Answer:
        return await self("GET", path, **options)

    async def post(self, path: str, body: Any = None, **options: Any) -> Answer:
        return await self("POST", path, body, **options)

    async def enqueue(self, task: str, *args: Any, **options: Any) -> str:
        """The id of a job that was stored by a request."""
        key = options.pop("key", None)
        answer = await self.post("jobs", {"task": task, "args": args, **options}, key=key)
        assert answer.status == 201, answer
        id: str = answer.json["id"]
        return id

    async def add_key(self, *roles: str, **options: Any) -> str:
        """A key that counts from now on."""
        return (await self.add_keys(new_key(roles, now=await self.store.now(), **options)))[0]

    async def add_keys(self, *made: tuple[ApiKey, str]) -> Sequence[str]:
        await self.store.put_keys([key for key, _ in made])
        await self.site.keyring.refresh()
        return [text for _, text in made]

    async def number(self, *states: State) -> int:
        """How many jobs the store has, in these states or in any."""
        total = await counts(self.store)
        return sum(total[state] for state in states or State)


@asynccontextmanager
async def served(
    app: Windlass, *, has_tasks: bool = True, tls: Any = None, **settings: Any
) -> AsyncIterator[Served]:
    """A server for an app that the caller closes."""
    server = await make_server(app, ServerSettings(**(QUIET | settings)), has_tasks=has_tasks)
    connector = aiohttp.TCPConnector(limit=0, ssl=True if tls is None else tls)
    async with aiohttp.ClientSession(connector=connector, raise_for_status=False) as session:
        await server.start()
        try:
            yield Served(server, session, "http" if tls is None else "https")
        finally:
            await server.stop()
