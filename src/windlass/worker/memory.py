"""How much memory this process has."""

from __future__ import annotations

import resource
import sys
from pathlib import Path
from typing import Final

MIB: Final = 1024 * 1024
_STATM: Final = Path("/proc/self/statm")


def resident() -> int:
    """Bytes of resident memory. Where the system does not tell: the most there has been."""
    try:
        return int(_STATM.read_text("ascii").split()[1]) * resource.getpagesize()
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
