"""The source files of an app: which were loaded, and whether one has changed."""

from __future__ import annotations

import asyncio
import os
import sys
import traceback
from collections.abc import Iterable
from pathlib import Path
from typing import Final

LOOK: Final = 0.5
"""Seconds between two looks at the files."""

INSTALLED: Final = frozenset({"site-packages", "dist-packages"})

Signature = tuple[int, int, int]
SourceFile = tuple[str, Signature | None]


def loaded(folder: Path) -> frozenset[str]:
    """The files below a folder that modules were loaded from; what is installed is left out."""
    files = (getattr(module, "__file__", None) for module in tuple(sys.modules.values()))
    return _own(files, folder)


def named_by(error: BaseException | None, folder: Path) -> frozenset[str]:
    """The files that an error came through: a module that fails to load is not in the list."""
    files: list[str | None] = []
    while error is not None:
        files += [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
        if isinstance(error, SyntaxError):
            files.append(error.filename)
        error = error.__cause__ or error.__context__
    return _own(files, folder)


def _own(files: Iterable[str | None], folder: Path) -> frozenset[str]:
    """Those below the folder; but not what is installed there, as in a virtual environment."""
    paths = (Path(os.path.abspath(file)) for file in files if file)
    below = [path.relative_to(folder).parts for path in paths if path.is_relative_to(folder)]
    return frozenset(str(folder.joinpath(*parts)) for parts in below if not INSTALLED & {*parts})


def signed(files: Iterable[str]) -> tuple[SourceFile, ...]:
    """Files with what they are now, to be told to whoever looks for changes later."""
    return tuple((file, _signature(file)) for file in sorted(files))


class Sources:
    """Files to keep an eye on. Each is compared with what it was for who named it first."""

    def __init__(self) -> None:
        self._seen: dict[str, Signature | None] = {}

    def add(self, files: Iterable[SourceFile]) -> None:
        for file, signature in files:
            self._seen.setdefault(file, signature)

    async def changed(self) -> list[str]:
        """Wait until files have changed, and name them."""
        while True:
            if found := [file for file in tuple(self._seen) if self._differs(file)]:
                return found
            await asyncio.sleep(LOOK)

    def _differs(self, file: str) -> bool:
        now, before = _signature(file), self._seen[file]
        # An editor that saves takes the file away for a moment.
        if now is None or now == before:
            return False
        self._seen[file] = now
        return True


def _signature(file: str) -> Signature | None:
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
