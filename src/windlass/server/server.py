"""A server: its parts, and the order in which they start and stop.

Started from the bottom up: keys are loaded, or the server does not start; upkeep; keys, watcher
and pulse; at last the two APIs, HTTP behind gRPC: whoever is told that it is ready finds both.

Stopped the other way round:

1. it says that it is not ready, so that a balancer sends nothing more, and nobody waits any longer:
   long-polls answer, streams end;
2. both APIs take no more connections and finish what is under way, for `shutdown_timeout` seconds;
3. what was claimed for workers that have left is given back;
4. pulse, watcher, keys and upkeep end, and leadership is given up for another one to take.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from ..app import Windlass
from ..config import ServerSettings, WorkerSettings
from ..config.server import NO_PORT
from ..core.ids import new_id
from ..core.workers import SERVER
from ..scheduler.upkeep import upkeep
from ..service import Service
from ..worker.tallier import Tallier, Unsent
from ..worker.worker import new_worker_id
from .checkup import Checkup
from .http.serving import HttpServer
from .open_files import within_open_files
from .site import Site, make_site

log = logging.getLogger("windlass")


class Server:
    """The HTTP and gRPC APIs of one process."""

    def __init__(self, site: Site, services: Sequence[Service]) -> None:
        self.site = site
        self._services = services
        self._http = HttpServer(site)
        self._grpc = None
        if site.settings.grpc_port != NO_PORT:
            # Loaded only where it is served: it is large.
            from .grpc.server import GrpcServer

            self._grpc = GrpcServer(site)

    @property
    def http_port(self) -> int:
        return self._http.port

    @property
    def grpc_port(self) -> int | None:
        return None if self._grpc is None else self._grpc.port

    async def start(self) -> None:
        try:
            await self.site.keyring.load()
            for service in self._services:
                service.start()
            self.site.workers.start()
            if self._grpc is not None:
                await self._grpc.start()
            # Last, for it is what says that the server is ready.
            await self._http.start()
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        self.site.draining.set()
        self.site.watcher.release()
        self.site.workers.release()
        apis = [self._http.stop()]
        if self._grpc is not None:
            apis.append(self._grpc.stop(self.site.settings.shutdown_timeout))
        await asyncio.gather(*apis)
        await self.site.workers.stop()
        for service in reversed(self._services):
            await service.stop()
        self.site.audit.close()


async def make_server(
    app: Windlass, settings: ServerSettings | None = None, *, has_tasks: bool = True
) -> Server:
    """A server for an app on the running event loop, not started yet.

    Without tasks it takes jobs of any task for workers that are elsewhere.
    """
    if settings is not None and settings.tracing:
        # First: calls of a store are told only to those who listen when it is opened.
        from ..observe.tracing import trace_app

        trace_app(app.registry.events)
    bounded = within_open_files(settings or ServerSettings())
    site = await make_site(app, bounded, has_tasks=has_tasks)
    # First, and so the last to stop: the others count to their end.
    unsent = Unsent(new_worker_id(), site.ledger, site.meter.metrics.asked)
    services: list[Service] = [Tallier(site.store, unsent)]
    if site.settings.upkeep:
        services += upkeep(
            site.store,
            app.registry,
            WorkerSettings(),
            app.history,
            site.ledger,
            holder=f"{SERVER}{new_id()}",
        )
        services.append(Checkup(site.store, site.meter))
    services += [site.keyring, site.watcher, site.pulse]
    if app.history.is_kept:
        await site.store.keep_journal(True)
    return Server(site, services)
