"""A door that the orphans of a killed supervisor cannot come through once it is shut.

They end when they notice its death, which may be after all others are gone: one that was about to
start would find an empty place, and begin to work there.
"""

from __future__ import annotations

import fcntl
import time
from pathlib import Path
from time import monotonic
from typing import Final, TextIO

NAME: Final = "door"
LOOK: Final = 0.02


def enter(folder: Path) -> TextIO | None:
    """Be in for as long as this process lives; None if the door is shut."""
    return _locked(folder, fcntl.LOCK_SH)


def shut(folder: Path, patience: float) -> TextIO:
    """Wait until nobody is in, and let nobody in for as long as the answer is open."""
    until = monotonic() + patience
    while (door := _locked(folder, fcntl.LOCK_EX)) is None:
        if monotonic() > until:
            raise TimeoutError("A process whose supervisor was killed has not ended.")
        time.sleep(LOOK)
    return door


def _locked(folder: Path, how: int) -> TextIO | None:
    try:
        door = (folder / NAME).open("a")
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(door, how | fcntl.LOCK_NB)
    except BlockingIOError:
        door.close()
        return None
    return door
