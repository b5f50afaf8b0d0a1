"""What a command works on: an app that the user names, or just a store.

A store without an app is an app without tasks, so that commands know only one thing.
"""

from __future__ import annotations

import logging
import os
import sys
import traceback
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any, Final, NamedTuple, TypeVar
from urllib.parse import quote

import click
from click.core import ParameterSource

from ..app import Windlass
from ..stores.contract import Store
from ..stores.open import open_store
from .refusal import Refusal

log = logging.getLogger("windlass")

SQLITE: Final = "sqlite:///"
WITH_SCHEMA: Final = ("sqlite:", "postgres", "mysql:", "mariadb:")

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


class AppName(NamedTuple):
    """`MODULE:APP`, taken apart; without a path it is the one app of the module."""

    module: str
    path: str

    def __str__(self) -> str:
        return f"{self.module}:{self.path}" if self.path else self.module


def app_name(text: str) -> AppName:
    """The name of an app as it is written on the command line."""
    module, colon, path = text.partition(":")
    if not module or (colon and not path):
        raise click.BadParameter(f"an app is named MODULE:APP, as in shop:app, not {text!r}.")
    if module.endswith(".py") or os.sep in module:
        raise click.BadParameter(f"{module!r} is a file; name the module, as in shop:app.")
    return AppName(module, path)


def names_argument(command: F) -> F:
    """`MODULE:APP` as an argument; see `one_app` for what else may stand there."""
    return click.argument("names", metavar="[MODULE:APP]", nargs=-1)(command)


def one_app(names: Sequence[str], option: AppName | None, setting: str = "") -> AppName | None:
    """The app that was named as an argument, by -A, by WINDLASS_APP or by a setting."""
    context = click.get_current_context()
    source = context.get_parameter_source("app")
    if len(names) > 1 or (names and source is ParameterSource.COMMANDLINE):
        more = names[-1] if option is None or len(names) > 1 else names[0]
        raise click.UsageError(
            f"Got unexpected extra argument ({more}). Name one app, and divide queues by commas, "
            "as in -Q a,b."
        )
    if names:
        return app_name(names[0])
    return option or (app_name(setting) if setting else None)


def app_option(command: F) -> F:
    return click.option(
        "-A",
        "--app",
        type=app_name,
        metavar="MODULE:APP",
        envvar="WINDLASS_APP",
        help="the app, as in shop:app; wins over WINDLASS_APP",
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


def unmigrated(url: str) -> str:
    """A store's URL so that opening it changes no schema, if it has one."""
    return with_setting(url, "migrate", "off") if url.startswith(WITH_SCHEMA) else url


def absolute(url: str) -> str:
    """A store's URL with the whole path of a SQLite file: from another folder it is another one."""
    path, question, query = url.partition("?")
    name = path.removeprefix(SQLITE)
    if name == path or name.startswith("/"):
        return url
    return f"{SQLITE}{quote(os.getcwd())}/{name.removeprefix('./')}{question}{query}"


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
    apps = _apps(module)
    if not name.path:
        return _only(name.module, apps)
    value: Any = module
    for part in name.path.split("."):
        value = getattr(value, part, None)
    if isinstance(value, Windlass):
        return value
    first = next(iter(apps), None)
    hint = f"did you mean {name.module}:{first}?" if first else "no app is made in that module."
    if value is None:
        raise Refusal(f"There is no {name}: {hint}")
    raise Refusal(f"{name} is a value of type {type(value).__name__}, not an app: {hint}")


def _apps(module: ModuleType) -> Mapping[str, Windlass]:
    """The apps of a module by name; each once."""
    # By type(): asking a proxy object for its class may run anything.
    found = {key: item for key, item in vars(module).items() if issubclass(type(item), Windlass)}
    return {key: app for key, app in found.items() if key == _first_of(app, found)}


def _first_of(app: Windlass, named: Mapping[str, Windlass]) -> str:
    return next(key for key, each in named.items() if each is app)


def _only(module: str, apps: Mapping[str, Windlass]) -> Windlass:
    if not apps:
        raise Refusal(
            f"There is no app in the module {module}: make one there by app = Windlass(), or "
            "name the module that has it."
        )
    if len(apps) > 1:
        names = ", ".join(f"{module}:{name}" for name in apps)
        raise Refusal(f"The module {module} has several apps: name one of {names}.")
    (app,) = apps.values()
    return app


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
            text = f"There is no module {missing} in {folder} or among the installed ones."
            raise Refusal(text + _meant(name, missing)) from None
        raise Refusal(f"The module {name} cannot be imported: {_reason(error)}.") from None


def _meant(name: str, missing: str) -> str:
    """The app, if it was named with a point in the place of the colon."""
    module, _, path = name.rpartition(".")
    if missing == name and isinstance(getattr(sys.modules.get(module), path, None), Windlass):
        return f" Did you mean {module}:{path}?"
    return ""


def _reason(error: BaseException) -> str:
    """The error and the line that it came from."""
    text = f"{type(error).__name__}: {error}".strip(": .")
    if isinstance(error, SyntaxError):
        return text
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{text} ({last.filename}, line {last.lineno})"
