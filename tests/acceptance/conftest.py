"""A place for processes to work in, and stores for them."""

import os
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.acceptance.process import Site
from tests.acceptance.process import site as open_site
from tests.acceptance.supervised import Ship
from tests.servers.mysql_client import fresh_database


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with open_site(tmp_path) as place:
        yield place


@pytest.fixture
def ship(site: Site) -> Ship:
    return Ship(site)


Fresh = Callable[[str], str]

_serial = count()


@pytest.fixture
def fresh(tmp_path: Path, request: pytest.FixtureRequest) -> Fresh:
    """The URL of a store with nothing in it: in a SQLite file, or on a server's fixture."""

    def fresh(kind: str) -> str:
        name = f"acceptance_{os.getpid()}_{next(_serial)}"
        if kind == "sqlite":
            return f"sqlite:///{tmp_path}/{name}.db"
        url: str = request.getfixturevalue(kind).url
        if kind == "mariadb_server":
            return fresh_database(url, name)
        return f"{url}?{'schema' if kind == 'postgres_server' else 'namespace'}={name}"

    return fresh
