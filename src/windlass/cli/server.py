"""`windlass server`: the HTTP and gRPC APIs of a store."""

from __future__ import annotations

import asyncio
import logging
import signal
from importlib.util import find_spec
from typing import Any, Final

import click

from ..app import Windlass
from ..config import ServerSettings, load
from ..errors import MissingExtra
from ..observe.logs import set_up
from ..worker.shutdown import stop_on_signals
from .loop import run
from .settings import settings_options
from .target import (
    AppName,
    absolute,
    app_option,
    names_argument,
    one_app,
    opened,
    url_option,
    warn_of_memory,
)
from .text import masked

log = logging.getLogger("windlass")

NEEDED: Final = ("starlette", "httptools", "prometheus_client")


@click.command()
@names_argument
@app_option
@url_option
@settings_options(ServerSettings, {"http_port": "-p", "log_level": "-l"})
def server(names: tuple[str, ...], app: AppName | None, url: str | None, **flags: Any) -> None:
    """Serve the HTTP and gRPC APIs until SIGTERM or Ctrl-C.

    With an app (MODULE:APP, -A or WINDLASS_APP) its tasks are the only ones that can be enqueued,
    and arguments must fit their signatures. Without one, jobs of any task are taken, for workers
    in any language.

    While the store has no API keys (windlass keys create), everybody who reaches the server may
    do everything: so it listens on this machine only, unless --insecure is given.

    The settings can also come from WINDLASS_SERVER_… variables or from [server] in
    windlass.toml; options win over variables, and these over the file. Times are in seconds.
    """
    settings = load(ServerSettings, "server", flags)
    name = one_app(names, app)
    with opened(name, url) as found:
        set_up(settings.log_level, settings.log_format)
        run(_serve(found, settings, has_tasks=name is not None))


async def _serve(app: Windlass, settings: ServerSettings, *, has_tasks: bool) -> None:
    for module in NEEDED:
        if find_spec(module) is None:
            raise MissingExtra("The server needs an extra: pip install 'windlass[server]'.")
    from ..server.server import make_server

    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    # From here on: what renames the audit log may tell the server before it serves.
    loop.add_signal_handler(signal.SIGHUP, int)
    try:
        server = await make_server(app, settings, has_tasks=has_tasks)
        loop.add_signal_handler(signal.SIGHUP, server.site.audit.reopen)
        with stop_on_signals(stop.set):
            await server.start()
            scheme = "https" if settings.has_tls else "http"
            grpc = "no gRPC" if server.grpc_port is None else f"gRPC on port {server.grpc_port}"
            log.info(
                "serving %s at %s://%s:%d, %s",
                masked(absolute(app.url)),
                scheme,
                settings.host,
                server.http_port,
                grpc,
            )
            warn_of_memory(app, "producers and workers must reach it through this server")
            await stop.wait()
            log.info("stopping: requests may finish, a second signal ends at once")
            await server.stop()
    finally:
        await app.aclose()
    log.info("stopped")
