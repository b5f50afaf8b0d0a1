"""`settings.WINDLASS`, and the URL of a store that is one of `settings.DATABASES`."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, Final, Literal, NamedTuple
from urllib.parse import quote, urlencode

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import connections

Testing = Literal["collect", "immediate"]

POSTGRES_OPTIONS: Final = (
    "sslmode",
    "sslrootcert",
    "sslcert",
    "sslkey",
    "passfile",
    "target_session_attrs",
)
"""Those of Django that the URL of a store knows by the same name."""

IN_MEMORY: Final = "sqlite:////nowhere/in-memory"
"""Stands for a database that no other connection can reach."""


class Conf(NamedTuple):
    """What `settings.WINDLASS` says."""

    url: str | None = None
    """the store, if it is none of Django's databases"""
    database: str | None = None
    """the alias of the database that jobs are kept in"""
    transaction: bool | str = True
    """whether jobs wait for the commit, with a URL also: of which database"""
    testing: Testing = "collect"
    """what becomes of jobs in tests"""
    options: Mapping[str, Any] = {}
    """more arguments of `Windlass`"""

    @property
    def awaited(self) -> str | None:
        """The alias of the database whose commit jobs wait for."""
        if isinstance(self.transaction, str):
            return self.transaction
        return (self.database or "default") if self.transaction else None


def conf() -> Conf:
    """The setting as it is now; `ImproperlyConfigured` for what it cannot say."""
    given = getattr(settings, "WINDLASS", None)
    if given is None:
        given = {"DATABASE": "default"}
    if not isinstance(given, Mapping):
        raise ImproperlyConfigured("WINDLASS is a dict, as in {'DATABASE': 'default'}.")
    for key in given:
        if not isinstance(key, str) or key.lower() not in Conf._fields or key != key.upper():
            raise ImproperlyConfigured(f"WINDLASS has no setting {key!r}: {_hint(str(key))}.")
    found = Conf(**{key.lower(): value for key, value in given.items()})
    if (found.url is None) == (found.database is None):
        raise ImproperlyConfigured("WINDLASS has either URL or DATABASE, the alias of a database.")
    if found.testing not in ("collect", "immediate"):
        raise ImproperlyConfigured("TESTING in WINDLASS is 'collect' or 'immediate'.")
    for alias in {found.database, found.awaited} - {None}:
        if alias not in connections.settings:
            raise ImproperlyConfigured(f"WINDLASS names the database {alias!r}: there is none.")
    return found


def _hint(key: str) -> str:
    known = [name.upper() for name in Conf._fields]
    near = get_close_matches(key.upper(), known, 1)
    return f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}"


def url_of(alias: str) -> str:
    """The URL of the store in one of Django's databases: in tests, that of the test database."""
    connection = connections[alias]
    have = connection.settings_dict
    if connection.vendor == "sqlite":
        if connection.is_in_memory_db():
            return IN_MEMORY
        return f"sqlite:///{quote(str(have['NAME']))}"
    if connection.vendor == "postgresql":
        return _postgres(alias, have)
    if connection.vendor == "mysql":
        return _mysql(alias, have)
    raise ImproperlyConfigured(
        f"Jobs cannot be kept in the database {alias!r}, which is {connection.display_name}: use "
        "one on SQLite, PostgreSQL, MySQL or MariaDB, or give WINDLASS a URL."
    )


def _postgres(alias: str, have: Mapping[str, Any]) -> str:
    options = have["OPTIONS"]
    if "service" in options or not have["NAME"]:
        raise ImproperlyConfigured(
            f"The database {alias!r} is named by a service file, which a store cannot read: give "
            "WINDLASS a URL."
        )
    query = {name: str(options[name]) for name in POSTGRES_OPTIONS if name in options}
    host = str(have["HOST"])
    if host.startswith("/"):
        query["host"], host = host, ""
        if have["PORT"]:
            query["port"] = str(have["PORT"])
    return f"postgresql://{_front(have, host)}" + (f"?{urlencode(query)}" if query else "")


def _mysql(alias: str, have: Mapping[str, Any]) -> str:
    options = have["OPTIONS"]
    if "ssl" in options or "ssl_mode" in options or "read_default_file" in options:
        raise ImproperlyConfigured(
            f"The OPTIONS of the database {alias!r} say how to connect in a way that a store "
            "cannot follow: give WINDLASS a URL."
        )
    host = str(have["HOST"])
    if host.startswith("/"):
        return f"mysql://{_front({**have, 'PORT': ''}, 'localhost')}?{urlencode({'socket': host})}"
    return f"mysql://{_front(have, host or 'localhost')}"


def _front(have: Mapping[str, Any], host: str) -> str:
    """User, host and database, as all URLs have them."""
    login = quote(str(have["USER"]), safe="")
    if have["PASSWORD"]:
        login += f":{quote(str(have['PASSWORD']), safe='')}"
    where = f"[{host}]" if ":" in host else host
    if have["PORT"] and where:
        where += f":{have['PORT']}"
    return (
        f"{login}@{where}/{quote(str(have['NAME']), safe='')}"
        if login
        else (f"{where}/{quote(str(have['NAME']), safe='')}")
    )
