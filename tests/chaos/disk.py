"""A disk that can be full for a while: a file system in memory whose size is changed under way.

It takes the right to mount, which not everybody has.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SIZE = "4g"
"""What it may grow to; it takes only what is in it."""

FULL_FOR = 0.5


@contextmanager
def mounted(folder: Path) -> Iterator[bool]:
    """Have one at `folder`, and tell whether that is allowed here."""
    tried = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "none", folder], capture_output=True
    )
    if tried.returncode != 0:
        yield False
        return
    try:
        yield True
    finally:
        # Lazily: a process that is just about to end may still have a file open.
        subprocess.run(["umount", "--lazy", folder], check=True, capture_output=True)


async def fill(folder: Path) -> None:
    """Let there be no room for one more page, for a moment."""
    await asyncio.to_thread(_resize, folder, "used")
    try:
        await asyncio.sleep(FULL_FOR)
    finally:
        await asyncio.to_thread(_resize, folder, SIZE)


def _resize(folder: Path, size: str) -> None:
    """Somebody may write between the look and the change: then look again."""
    while True:
        found = os.statvfs(folder)
        used = (found.f_blocks - found.f_bfree) * found.f_frsize
        wanted = str(used) if size == "used" else size
        tried = subprocess.run(
            ["mount", "-o", f"remount,size={wanted}", folder], capture_output=True, text=True
        )
        if tried.returncode == 0:
            return
        if size != "used":
            raise OSError(tried.stderr)
