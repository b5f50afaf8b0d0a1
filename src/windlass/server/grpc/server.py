"""The gRPC API of one process: its parts, and the order in which they start and stop."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import grpc
from google.protobuf.descriptor import ServiceDescriptor
from grpc import aio
from grpc_health.v1 import health_pb2  # type: ignore[import-untyped]
from grpc_reflection.v1alpha import reflection_pb2  # type: ignore[import-untyped]

from ...config import ServerSettings
from ...errors import ConfigError
from ...protocol import windlass_pb2
from ..site import Site
from .gate import Gate
from .health import Health
from .jobs import Jobs
from .reflection import Reflection
from .work import Work

PING_TIMEOUT: Final = 10.0
"""Seconds after which a client that does not answer a ping is taken for gone."""

SHORTEST_PING: Final = 10.0
"""Clients may ping this often, in seconds."""


class GrpcServer:
    """Serves a site by gRPC."""

    def __init__(self, site: Site) -> None:
        self._settings = site.settings
        own = windlass_pb2.DESCRIPTOR.services_by_name
        jobs, work = own["Jobs"], own["Work"]
        health = health_pb2.DESCRIPTOR.services_by_name["Health"]
        mirror = reflection_pb2.DESCRIPTOR.services_by_name["ServerReflection"]
        names = [each.full_name for each in (jobs, work, health, mirror)]
        services: dict[ServiceDescriptor, object] = {
            jobs: Jobs(site),
            work: Work(site.workers),
            health: Health(names[:2], site.draining),
            mirror: Reflection(names),
        }
        self._gate = Gate(site, services)
        self._server: aio.Server | None = None
        self.port = 0

    async def start(self) -> None:
        """Listen; a port that is taken is `ConfigError`."""
        settings = self._settings
        server = aio.server(
            options=_options(settings), maximum_concurrent_rpcs=settings.max_connections
        )
        server.add_generic_rpc_handlers((self._gate,))
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        place = f"{host}:{settings.grpc_port}"
        try:
            if settings.has_tls:
                self.port = server.add_secure_port(place, _credentials(settings))
            else:
                self.port = server.add_insecure_port(place)
        except RuntimeError:
            raise ConfigError(
                f"Nothing can listen for gRPC on {place}: another program may have the port, or "
                "the host is not of this machine; choose others by --grpc-port and --host."
            ) from None
        await server.start()
        self._server = server

    async def stop(self, grace: float) -> None:
        """Finish what is under way within `grace` seconds."""
        if self._server is not None:
            await self._server.stop(grace)


def _credentials(settings: ServerSettings) -> grpc.ServerCredentials:
    try:
        pair = (Path(settings.tls_key).read_bytes(), Path(settings.tls_cert).read_bytes())
        authority = settings.tls_client_ca and Path(settings.tls_client_ca).read_bytes()
    except OSError as error:
        raise ConfigError(f"A file for TLS cannot be read: {error}.") from None
    return grpc.ssl_server_credentials(
        [pair], root_certificates=authority or None, require_client_auth=bool(authority)
    )


def _options(settings: ServerSettings) -> list[tuple[str, Any]]:
    return [
        ("grpc.max_receive_message_length", settings.max_body),
        ("grpc.max_send_message_length", -1),
        ("grpc.max_metadata_size", settings.max_headers),
        ("grpc.absolute_max_metadata_size", settings.max_headers),
        ("grpc.max_allowed_incoming_connections", settings.max_connections),
        ("grpc.server_handshake_timeout_ms", _ms(settings.header_timeout)),
        # A second server must not take half of the requests of the first.
        ("grpc.so_reuseport", 0),
        ("grpc.max_connection_idle_ms", _ms(settings.keep_alive)),
        # Who waits says nothing for a long time: only a ping tells whether anybody is there.
        ("grpc.keepalive_time_ms", _ms(settings.keep_alive)),
        ("grpc.keepalive_timeout_ms", _ms(PING_TIMEOUT)),
        ("grpc.http2.min_ping_interval_without_data_ms", _ms(SHORTEST_PING)),
        ("grpc.http2.max_ping_strikes", 0),
    ]


def _ms(seconds: float) -> int:
    return int(seconds * 1000)
