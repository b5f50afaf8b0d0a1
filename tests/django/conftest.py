"""A shop in Django, on each database that it can have."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

import psycopg
import pymysql
import pytest

PROJECT = Path(__file__).parent / "project"


class Shop:
    """The project, with a database of its own, driven by programs as users drive it."""

    def __init__(self, database: Mapping[str, object], windlass: Mapping[str, object]) -> None:
        self.database = database
        self.environment = {
            **os.environ,
            "SHOP_DATABASE": json.dumps(database),
            "SHOP_WINDLASS": json.dumps(windlass),
            "PYTHONPATH": str(PROJECT),
            "DJANGO_SETTINGS_MODULE": "shop.settings",
        }
        self.environment.pop("WINDLASS_URL", None)

    def command(self, *arguments: str) -> Sequence[str]:
        return [sys.executable, "-W", "error", str(PROJECT / "manage.py"), *arguments]

    def manage(self, *arguments: str) -> str:
        """What `manage.py` printed; it must not fail."""
        return self._run(self.command(*arguments))

    def python(self, program: str) -> str:
        """What a program with Django set up printed."""
        head = "import django; django.setup()\n"
        return self._run([sys.executable, "-W", "error", "-c", head + program])

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            self.command(*arguments), env=self.environment, text=True, stderr=subprocess.PIPE
        )

    def _run(self, command: Sequence[str]) -> str:
        done = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, check=False, timeout=60
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr


MakeShop = Callable[..., Shop]


@pytest.fixture
def make_shop(request: pytest.FixtureRequest, tmp_path: Path) -> MakeShop:
    """A shop on the engine of this name, with `WINDLASS` as given; nothing is migrated yet."""

    def made(engine: str, windlass: Mapping[str, object] | None = None) -> Shop:
        if engine == "sqlite":
            file = {"ENGINE": "django.db.backends.sqlite3", "NAME": str(tmp_path / "shop.sqlite3")}
            return Shop(file, windlass or {"DATABASE": "default"})
        url = request.getfixturevalue(f"{engine}_server").url
        name = f"shop_{uuid4().hex}"
        parts = urlsplit(url)
        if engine == "postgres":
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute(f'CREATE DATABASE "{name}"'.encode())
        else:
            with pymysql.connect(
                host=parts.hostname or "",
                port=parts.port or 0,
                user=parts.username,
                password=parts.password or "",
            ) as maria:
                maria.cursor().execute(f"CREATE DATABASE {name} CHARACTER SET utf8mb4")
        database = {
            "ENGINE": "django.db.backends."
            + {"postgres": "postgresql", "mariadb": "mysql"}[engine],
            "NAME": name,
            "USER": parts.username,
            "PASSWORD": parts.password or "",
            "HOST": parts.hostname,
            "PORT": parts.port,
        }
        return Shop(database, windlass or {"DATABASE": "default"})

    return made
