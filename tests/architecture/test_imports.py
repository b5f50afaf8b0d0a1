"""`import windlass` is light: engines, terminals and ciphers come when they are asked for."""

import json
import os
import subprocess
import sys
from pathlib import Path

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


def imported_by(statement: str) -> set[str]:
    """The top-level packages that a fresh interpreter has after a statement."""
    program = f"import json, sys; {statement}; print(json.dumps(list(sys.modules)))"
    environ = os.environ | {"PYTHONPATH": str(SOURCE)}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environ, capture_output=True, text=True, check=True
    )
    return {name.partition(".")[0] for name in json.loads(done.stdout)}


def test_importing_windlass_imports_nothing_heavy() -> None:
    packages = imported_by("import windlass")
    assert "windlass" in packages
    assert not packages & HEAVY


def test_an_app_on_memory_does_without_engines_too() -> None:
    assert not imported_by("import windlass; windlass.Windlass('memory://')") & HEAVY


def test_an_app_on_sqlite_imports_its_own_engine_only_when_it_is_used() -> None:
    assert not imported_by("import windlass; windlass.Windlass('sqlite:///x.db')") & HEAVY
