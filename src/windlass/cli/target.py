"""What a command works on: an app that the user names, or just a store.

A store without an app is an app without tasks, so that commands know only one thing.
"""

from __future__ import annotations

import logging
import os
import sys
import traceback
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple, TypeVar

import click

from ..app import Windlass
from ..stores.contract import Store
from ..stores.open import open_store
from .refusal import Refusal

log = logging.getLogger("windlass")

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


class AppName(NamedTuple):
    """`MODULE:APP`, taken apart."""

    module: str
    path: str

    def __str__(self) -> str:
        return f"{self.module}:{self.path}"


def app_name(text: str) -> AppName:
    """The name of an app as it is written on the command line."""
    module, _, path = text.partition(":")
    if not (module and path):
        raise click.BadParameter(f"an app is named MODULE:APP, as in shop:app, not {text!r}.")
    if module.endswith(".py") or os.sep in module:
        raise click.BadParameter(f"{module!r} is a file; name the module, as in shop:app.")
    return AppName(module, path)


def app_option(command: F) -> F:
    return click.option(
        "-A", "--app", type=app_name, metavar="MODULE:APP", help="the app, as in shop:app"
    )(command)


def url_option(command: F) -> F:
    return click.option(
        "-u", "--url", help="the store; wins over WINDLASS_URL and over the app's own"
    )(command)


def json_option(command: F) -> F:
    return click.option("--json", "as_json", is_flag=True, help="print JSON, for programs")(command)


@contextmanager
def opened(app: AppName | None, url: str | None) -> Iterator[Windlass]:
    """The app that was named, or one without tasks on the store that was; closed at the end."""
    found = Windlass(url) if app is None else find_app(app)
    if app is not None and url is not None:
        move(found, url)
    try:
        yield found
    finally:
        found.close()


@contextmanager
def existing(app: AppName | None, url: str | None) -> Iterator[Windlass]:
    """The same for a command that only makes sense on what is there: makes no SQLite file."""
    with opened(app, url) as found:
        if found.url.startswith("sqlite:"):
            open_store(found.url)  # so that one that cannot be is refused as it was written
            # The app's own URL stays as it is, to be shown.
            found.client.url = with_setting(found.url, "create", "off")
        yield found


def with_setting(url: str, name: str, value: str) -> str:
    """A store's URL with a setting that wins over the one it had."""
    base, _, query = url.partition("?")
    kept = [setting for setting in query.split("&") if setting.partition("=")[0] != name]
    return f"{base}?{'&'.join([*filter(None, kept), f'{name}={value}'])}"


def warn_of_memory(app: Windlass, effect: str) -> None:
    """Tell who starts a process on a store of its own that nobody else will ever see it."""
    if app.url.startswith("memory:"):
        log.warning(
            "memory:// is in this process alone: %s, and its jobs are gone when it ends; for a "
            "store that processes share, give a URL such as sqlite:///jobs.db",
            effect,
        )


def ask(app: Windlass, act: Callable[[Store], Coroutine[Any, Any, T]]) -> T:
    """What the app's store answers to a command that blocks."""
    return app.client.block(act, "this command", "the async API")


def find_app(name: AppName) -> Windlass:
    """The app of a name. The current folder can be imported from, as with `python -m`."""
    module = _import(name.module)
    value: Any = module
    for part in name.path.split("."):
        value = getattr(value, part, None)
    if isinstance(value, Windlass):
        return value
    # By type(): asking a proxy object for its class may run anything.
    apps = [key for key, item in vars(module).items() if issubclass(type(item), Windlass)]
    hint = f"did you mean {name.module}:{apps[0]}?" if apps else "no app is made in that module."
    if value is None:
        raise Refusal(f"There is no {name}: {hint}")
    raise Refusal(f"{name} is a value of type {type(value).__name__}, not an app: {hint}")


def move(app: Windlass, url: str) -> None:
    """Put an app on another store."""
    if app.url.startswith("memory:"):
        raise Refusal("The app keeps its jobs in memory: --url cannot move it.")
    # Its module may have used the first one already, while it was imported.
    app.close()
    app.url = app.client.url = url


def _import(name: str) -> ModuleType:
    folder = os.getcwd()
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        return import_module(name)
    except (Exception, SystemExit) as error:
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if missing and f"{name}.".startswith(f"{missing}."):
            raise Refusal(
                f"There is no module {missing} in {folder} or among the installed ones."
            ) from None
        raise Refusal(f"The module {name} cannot be imported: {_reason(error)}.") from None


def _reason(error: BaseException) -> str:
    """The error and the line that it came from."""
    text = f"{type(error).__name__}: {error}".strip(": .")
    if isinstance(error, SyntaxError):
        return text
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{text} ({last.filename}, line {last.lineno})"
