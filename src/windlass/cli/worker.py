"""`windlass worker`: a process that runs an app's jobs."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, Final

import click
from msgspec.structs import replace

from ..app import Windlass
from ..config import WorkerSettings, load
from ..errors import WindlassError
from ..observe.logs import set_up
from ..worker.metering import metrics_for
from ..worker.shutdown import STOPPING, stop_on_signals
from ..worker.supervisor import Supervisor
from ..worker.supervisor.note import Note
from ..worker.supervisor.sources import named_by, signed
from ..worker.supervisor.tether import Tether, tether
from ..worker.worker import Worker
from .departure import leave_soon
from .loop import hide_tasks, run_on
from .refusal import Refusal
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
from .waiting import warn_of_waiting

log = logging.getLogger("windlass")

SHOWN_TASKS: Final = 8


@click.command()
@names_argument
@app_option
@url_option
@settings_options(
    WorkerSettings, {"queues": "-Q", "concurrency": "-c", "log_level": "-l"}, besides=("app",)
)
@click.option("--burst", is_flag=True, help="end with exit code 0 when the queues are empty")
@click.option("--reload", is_flag=True, help="start anew when source files change; to develop with")
def worker(
    names: tuple[str, ...],
    app: AppName | None,
    url: str | None,
    burst: bool,
    reload: bool,
    **flags: Any,
) -> None:
    """Run the jobs of the app MODULE:APP, as in `windlass worker shop:app`.

    The app can also come from -A, WINDLASS_APP or [worker] in windlass.toml. Of a module that
    has one app, MODULE alone will do. Schedules need no other process: workers see to them.

    SIGTERM or Ctrl-C lets running jobs finish; a second one ends the process at once. With
    several processes, SIGHUP replaces them one after the other.

    The settings can also come from WINDLASS_WORKER_… variables or from [worker] in
    windlass.toml; options win over variables, and these over the file. Times are in seconds.

    \b
    windlass worker shop:app --queues mail:3,default --concurrency 20
    windlass worker shop:app --processes 4 --max-jobs 10000
    windlass worker shop:app --reload
    windlass worker shop:app --burst
    """
    if burst and reload:
        raise click.UsageError("--burst ends the worker and --reload keeps it: give one of them.")
    line, folder = tether(), Path.cwd()
    with _refusals_told(line, folder):
        settings = load(WorkerSettings, "worker", flags)
        name = one_app(names, app, settings.app)
    if name is None:
        raise click.UsageError("Name the app: windlass worker MODULE:APP, as in shop:app")
    if line is None and (reload or settings.is_supervised):
        set_up(settings.log_level, settings.log_format)
        asyncio.run(_supervise(settings, reload))
        return
    with _refusals_told(line, folder), opened(name, url) as found:
        if found.registry.is_empty:
            raise Refusal(
                f"The app {name} has no tasks; import the modules that declare them "
                "where it is made."
            )
        set_up(settings.log_level, settings.log_format, settings.log_capture)
        if line is not None and reload:
            # Before anything else: what is changed from now on must be noticed.
            line.tell_sources(folder)
        run_on(_serve(found, settings, line, folder if reload else None, burst=burst))


async def _supervise(settings: WorkerSettings, reload: bool) -> None:
    await Supervisor(settings, reload=reload).run()


@contextmanager
def _refusals_told(line: Tether | None, folder: Path) -> Iterator[None]:
    """Leave it to the supervisor, if there is one, to say why the worker cannot start."""
    try:
        yield
    except (WindlassError, click.ClickException) as error:
        if line is None:
            raise
        line.tell(Note("refused", str(error), signed(named_by(error, folder))))
        sys.exit(Refusal.exit_code)


async def _serve(
    app: Windlass,
    settings: WorkerSettings,
    line: Tether | None,
    sources: Path | None,
    *,
    burst: bool,
) -> None:
    figures = None
    if line is not None and settings.metrics_port:
        # The supervisor tells them, on one port for all of its processes.
        figures = metrics_for(app.registry.events).figures
        settings = replace(settings, metrics_port=0)
    try:
        worker = await app.worker(settings)
        stop, ending = worker.ask_to_stop, worker.ending()
        with stop_on_signals(stop, ending.begin):
            await worker.start(burst=burst)
            hide_tasks()
            log.info("worker %s started on %s", worker.id, _description(app, worker, settings))
            warn_of_memory(app, "it runs what its own handlers and schedules enqueue")
            await warn_of_waiting(await app.client.store(), worker.serves)
            held = None
            if line is not None:
                held = line.held(worker, settings, sources, figures, stop, ending.begin)
            async with held or nullcontext():
                await worker.asked_to_stop()
                ending.begin()
                if line is not None and worker.dismissed:
                    line.tell(Note("dismissed"))
                if not worker.emptied:
                    log.info(STOPPING)
                await worker.stop()
    finally:
        await app.aclose()
    log.info("worker %s stopped", worker.id)
    leave_soon()


def _description(app: Windlass, worker: Worker, settings: WorkerSettings) -> str:
    names = sorted(app.registry)
    more = ", …" if len(names) > SHOWN_TASKS else ""
    more += " and all others" if app.registry.default is not None else ""
    return (
        f"{masked(absolute(app.url))}: queues {','.join(worker.queues)}, "
        f"concurrency {settings.concurrency}, threads {settings.blocking}, "
        f"tasks {', '.join(names[:SHOWN_TASKS])}{more}"
    )
