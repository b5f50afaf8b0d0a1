"""The start and the end of an ASGI app, told to it if it listens."""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from ...errors import ConfigError
from .connections import App
from .messages import Message

log = logging.getLogger("windlass.http")

SCOPE: Final = {"type": "lifespan", "asgi": {"version": "3.0", "spec_version": "2.0"}}


class Lifespan:
    """Tells an app that it starts, and that it ends. One that does not know of it is left alone."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._told: asyncio.Queue[str] = asyncio.Queue()
        self._started = asyncio.Event()
        self._ended = asyncio.Event()
        self._failure: str | None = None
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Return when the app has started; `ConfigError` if it says that it cannot."""
        self._told.put_nowait("lifespan.startup")
        self._task = asyncio.create_task(self._run())
        await self._started.wait()
        if self._failure is not None:
            await self._task
            raise ConfigError(f"The app cannot start: {self._failure}")

    async def stop(self) -> None:
        """Return when the app has ended."""
        task, self._task = self._task, None
        if task is None or task.done():
            return
        self._told.put_nowait("lifespan.shutdown")
        await self._ended.wait()
        await task
        if self._failure is not None:
            log.error("the app did not end as it should: %s", self._failure)

    async def _run(self) -> None:
        try:
            await self._app(dict(SCOPE), self._receive, self._send)
        except Exception as error:
            if self._started.is_set():
                log.error("the app failed", exc_info=error)
            else:
                log.debug("the app has no lifespan: %s", error)
        finally:
            self._started.set()
            self._ended.set()

    async def _receive(self) -> Message:
        return {"type": await self._told.get()}

    async def _send(self, message: Message) -> None:
        _, _, what = message["type"].partition(".")
        if what.endswith(".failed"):
            self._failure = message.get("message", "") or "it does not say why"
        (self._started if what.startswith("startup") else self._ended).set()
