"""Which server programs this process has started, as the summary of a run names them."""

import re
import subprocess
from functools import cache
from pathlib import Path

_NAMES = {
    "mariadbd": "MariaDB",
    "pgbouncer": "PgBouncer",
    "postgres": "PostgreSQL",
    "prometheus": "Prometheus",
    "redis-server": "Redis",
    "valkey-server": "Valkey",
}
_used: set[str] = set()


def used() -> set[str]:
    """Names with versions, such as "Redis 7.0.15"."""
    return set(_used)


def note(program: str) -> None:
    """Remember that this program was started."""
    _used.add(_named(program))


@cache
def _named(program: str) -> str:
    name = Path(program).name
    told = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    version = re.search(r"\d+\.\d+[.\d]*", told.stdout)
    return f"{_NAMES.get(name, name)} {version[0] if version else '?'}"
