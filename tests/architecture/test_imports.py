"""`import windlass` is light: engines, terminals and ciphers come when they are asked for."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"

HEAVY = {
    "asyncmy",
    "asyncpg",
    "click",
    "compression",
    "cryptography",
    "grpc",
    "opentelemetry",
    "prometheus_client",
    "redis",
    "rich",
    "sqlite3",
    "starlette",
    "uvicorn",
}


STATEMENTS = (
    "import windlass",
    "windlass.Windlass('memory://')",
    "windlass.Windlass('sqlite:///x.db')",
)
IMPORTED = "print(json.dumps(list(sys.modules)))"


@pytest.fixture(scope="module")
def imported() -> list[set[str]]:
    """The top-level packages that a fresh interpreter has after each of the statements."""
    lines = "\n".join(f"{statement}\n{IMPORTED}" for statement in STATEMENTS)
    done = subprocess.run(
        [sys.executable, "-c", f"import json, sys\n{lines}"],
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=True,
    )
    return [
        {name.partition(".")[0] for name in json.loads(line)} for line in done.stdout.splitlines()
    ]


def test_importing_windlass_imports_nothing_heavy(imported: list[set[str]]) -> None:
    assert "windlass" in imported[0]
    assert not imported[0] & HEAVY


def test_an_app_on_memory_does_without_engines_too(imported: list[set[str]]) -> None:
    assert not imported[1] & HEAVY


def test_an_app_on_sqlite_imports_its_own_engine_only_when_it_is_used(
    imported: list[set[str]],
) -> None:
    assert not imported[2] & HEAVY
