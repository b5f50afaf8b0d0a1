"""Which file system a path is on: SQLite needs locks and shared memory that network drives lack."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

MOUNTS: Final = Path("/proc/self/mountinfo")
"""What Linux tells of all file systems; other systems are not asked."""

SHARED: Final = frozenset(
    [
        "9p",
        "acfs",
        "afs",
        "beegfs",
        "ceph",
        "cifs",
        "coda",
        "davfs",
        "gfs",
        "gfs2",
        "glusterfs",
        "gpfs",
        "lustre",
        "ncp",
        "ncpfs",
        "nfs",
        "nfs4",
        "ocfs2",
        "orangefs",
        "panfs",
        "pvfs2",
        "smb2",
        "smb3",
        "smbfs",
        "vboxsf",
    ]
)
SHARED_BY_FUSE: Final = frozenset(
    [
        "ceph",
        "ceph-fuse",
        "cifs",
        "davfs2",
        "gcsfuse",
        "glusterfs",
        "goofys",
        "hdfs",
        "juicefs",
        "lizardfs",
        "mfs",
        "moosefs",
        "rclone",
        "s3fs",
        "seaweedfs",
        "smbnetfs",
        "sshfs",
    ]
)
"""Types of file systems that several machines may use at a time."""


def shared_type(path: str, mounts: Path = MOUNTS) -> str | None:
    """The type of the file system that a file is on, if it is one of several machines."""
    try:
        lines = mounts.read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return None
    file = Path(path).resolve()
    # Of several that are mounted at one place, the last one counts.
    over = [
        (len(place.parts), number, kind)
        for number, (place, kind) in enumerate(_mounted(lines))
        if file.is_relative_to(place)
    ]
    kind = max(over)[2] if over else ""
    front, _, behind = kind.partition(".")
    known = kind in SHARED or (front in {"fuse", "fuseblk"} and behind in SHARED_BY_FUSE)
    return kind if known else None


def _mounted(lines: list[str]) -> Iterator[tuple[Path, str]]:
    """Where something is mounted, and of which type it is."""
    for line in lines:
        front, _, behind = line.partition(" - ")
        fields, types = front.split(" "), behind.split(" ")
        if len(fields) > 4 and types[0]:
            yield Path(_plain(fields[4])), types[0]


def _plain(text: str) -> str:
    """A path as it is: blanks and the like are written as octal numbers there."""
    parts = text.split("\\")
    return parts[0] + "".join(
        chr(int(part[:3], 8)) + part[3:] if part[:3].isdigit() else f"\\{part}"
        for part in parts[1:]
    )
