"""How many connections there can be: each is an open file, and the system bounds these."""

from __future__ import annotations

import logging
import os
from contextlib import suppress
from typing import Final

from msgspec.structs import replace

from ..config import ServerSettings
from ..config.server import NO_PORT

try:
    import resource
except ImportError:  # not on Windows
    resource = None  # type: ignore[assignment]

log = logging.getLogger("windlass")

SPARE: Final = 64
"""Files for what is not open yet: connections to the store, logs, modules."""
OPEN: Final = "/dev/fd"


def within_open_files(settings: ServerSettings) -> ServerSettings:
    """The settings, with no more connections than there can be files.

    Raises the limit of this process as far as it may. Both APIs count for themselves.
    """
    if resource is None:
        return settings
    apis = 1 if settings.grpc_port == NO_PORT else 2
    taken = _taken() + SPARE
    limit = _raised(settings.max_connections * apis + taken)
    if limit is None:
        return settings
    most = max(1, (limit - taken) // apis)
    if most >= settings.max_connections:
        return settings
    log.warning(
        "max_connections is %d instead of %d: this process may have %d files open (ulimit -n)",
        most,
        settings.max_connections,
        limit,
    )
    return replace(settings, max_connections=most)


def _raised(needed: int) -> int | None:
    """How many files there may be, once the limit was raised if need be; None is no limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return None
    if soft >= needed:
        return soft
    wanted = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    # Where it may not be raised, it is as it was, which the caller sees.
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def _taken() -> int:
    try:
        return len(os.listdir(OPEN))
    except OSError:
        return 0
