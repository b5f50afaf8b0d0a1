"""The one app of a Django project."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import cache, wraps
from typing import Any

from asgiref.sync import sync_to_async
from django.core.exceptions import ImproperlyConfigured
from django.db import connections

from ..app import Windlass
from ..core.model import DEFAULT_QUEUE, NewJob
from ..definition import DefaultHandler, Definition
from ..task import Registry
from .client import DjangoClient, is_testing
from .conf import Conf, conf, url_of


class DjangoRegistry(Registry):
    """Tasks whose handlers begin and end without database connections that are of no use."""

    def add(self, definition: Definition, queue: str = DEFAULT_QUEUE) -> None:
        super().add(_closing(definition), queue)

    def set_default(self, handler: DefaultHandler) -> None:
        super().set_default(handler._replace(definition=_closing(handler.definition)))


class DjangoApp(Windlass):
    """A Windlass app as `settings.WINDLASS` says."""

    _client_type = DjangoClient
    _registry_type = DjangoRegistry
    client: DjangoClient

    def __init__(self, conf: Conf) -> None:
        url = conf.url if conf.database is None else url_of(conf.database)
        try:
            super().__init__(url, **conf.options)
        except TypeError as error:
            raise ImproperlyConfigured(f"OPTIONS in WINDLASS: {error}.") from None
        self.conf = conf
        self.client.settle(conf, self._run_at_once)

    def _run_at_once(self, jobs: Sequence[NewJob]) -> None:
        from .running import run_enqueued

        run_enqueued(self, ids=[job.id for job in jobs])


@cache
def project_app() -> DjangoApp:
    """The app, made on first use: modules of tasks may be imported before all apps are ready."""
    return DjangoApp(conf())


def _closing(definition: Definition) -> Definition:
    """The same handler; a connection that broke, or that is too old, is closed around it."""
    if definition.process:
        # A child process looks the function up by its name.
        return definition
    wrap = _closing_async if definition.is_async else _closing_blocking
    return definition._replace(func=wrap(definition.func))


def _close_old() -> None:
    """As Django does around a request; but the transaction of a test stays open."""
    testing = is_testing()
    for connection in connections.all(initialized_only=True):
        if not (testing and connection.in_atomic_block):
            connection.close_if_unusable_or_obsolete()


def _closing_blocking(func: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(func)
    def run(*args: Any, **kwargs: Any) -> Any:
        _close_old()
        try:
            result = func(*args, **kwargs)
        except BaseException:
            _close_old()
            raise
        if inspect.isawaitable(result):
            return result
        _close_old()
        return result

    return run


def _closing_async(func: Callable[..., Any]) -> Callable[..., Any]:
    close = sync_to_async(_close_old)

    @wraps(func)
    async def run(*args: Any, **kwargs: Any) -> Any:
        await close()
        try:
            return await func(*args, **kwargs)
        finally:
            await close()

    return run
