"""Which failures are the same fault: a fingerprint that leaves out what differs by chance.

Two failures are alike if they are of one task, of one type, raised in one place, and say the same
but for numbers, ids, addresses and quoted values.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import Final

from .model import Failure

_FRAME: Final = re.compile(r'^  File "(.+)", line \d+, in (.+)$', re.MULTILINE)
_VARYING: Final = re.compile(
    r"""'[^']*' | "[^"]*"                 # what is quoted
    | \b0x[0-9a-fA-F]+\b                  # an address
    | \b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b
    | \b[0-9a-fA-F]{16,}\b                # a digest
    | \d+(?:[.,:]\d+)*                    # a number, a version, a time
    """,
    re.VERBOSE,
)
LONGEST: Final = 200


def error_fingerprint(task: str, failure: Failure) -> str:
    """Some text that is the same for failures that are alike."""
    frames = _FRAME.findall(failure.traceback)
    # The folder differs from host to host.
    file, function = frames[-1] if frames else ("", "")
    place = f"{file.replace(chr(92), '/').rpartition('/')[2]}:{function}"
    parts = (task, failure.kind, pattern(failure.message), place)
    return blake2b("\0".join(parts).encode(), digest_size=8).hexdigest()


def pattern(message: str) -> str:
    """The message with … for what differs by chance; its first line."""
    line = message.strip().partition("\n")[0][:LONGEST]
    return _VARYING.sub("…", line)
