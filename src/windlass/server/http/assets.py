"""The files of the dashboard, as they are sent: read once, compressed once."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final, NamedTuple

SHELL: Final = "index.html"
TYPES: Final[Mapping[str, str]] = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".json": "application/json",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
}
"""Other files are not served. Said here, for what a machine thinks of .js is its owner's affair."""

PACKED: Final = frozenset({".png", ".ico", ".woff2"})
"""Compressed by nature."""


class Asset(NamedTuple):
    """A file: its bytes, the same compressed if that is shorter, its type, and what names them."""

    data: bytes
    packed: bytes | None
    kind: str
    etag: str


class Assets(NamedTuple):
    """All files by their path; `version` is another one as soon as one of them is."""

    found: Mapping[str, Asset]
    version: str

    def get(self, path: str) -> tuple[Asset | None, bool]:
        """The file at a path, and whether the path has this version of it for ever.

        A page of another version, of a server that is about to be replaced or has been, gets the
        files that there are.
        """
        version, _, rest = path.partition("/")
        if len(version) == len(self.version) and rest in self.found:
            return self.found[rest], version == self.version
        return self.found.get(path), False


def made(data: bytes, suffix: str) -> Asset:
    packed = None if suffix in PACKED else gzip.compress(data, 9, mtime=0)
    is_shorter = packed is not None and len(packed) < len(data)
    return Asset(data, packed if is_shorter else None, TYPES[suffix], _etag(data))


@cache
def assets() -> Assets:
    """The files that were shipped."""
    found = dict(_files(files("windlass.server") / "ui"))
    whole = sha256()
    for path, asset in sorted(found.items()):
        whole.update(f"{path}\0{asset.etag}\0".encode())
    return Assets(found, whole.hexdigest()[:12])


def _files(folder: Traversable, prefix: str = "") -> Iterator[tuple[str, Asset]]:
    if not folder.is_dir():
        return
    for entry in folder.iterdir():
        suffix = entry.name[entry.name.rfind(".") :]
        if entry.is_dir():
            yield from _files(entry, f"{prefix}{entry.name}/")
        elif suffix in TYPES:
            yield f"{prefix}{entry.name}", made(entry.read_bytes(), suffix)


def _etag(data: bytes) -> str:
    # Weak: the compressed form has the same.
    return f'W/"{sha256(data).hexdigest()[:16]}"'
