"""A history on disk: what happened and what was left, to be judged again, or elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from ...errors import CorruptRecord
from .record import Event, Notebook, Outcome, read

EVENTS: Final = "events.jsonl"
OUTCOME: Final = "outcome.json"


class History(msgspec.Struct, frozen=True):
    """All that `rules.check` looks at."""

    events: Sequence[Event]
    outcome: Outcome


def save(history: History, folder: Path) -> None:
    """Write a history into a folder, in the place of one that is there."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / EVENTS).unlink(missing_ok=True)
    book = Notebook(folder / EVENTS)
    book.write(*history.events)
    book.close()
    (folder / OUTCOME).write_bytes(msgspec.json.encode(history.outcome))


def load(folder: Path) -> History:
    """The history in a folder; `CorruptRecord` if what is there is none."""
    try:
        outcome = msgspec.json.decode((folder / OUTCOME).read_bytes(), type=Outcome)
        return History(read([folder / EVENTS]), outcome)
    except (OSError, msgspec.DecodeError) as error:
        raise CorruptRecord(
            f"{folder} has no history that can be read ({error}); "
            "have one written by windlass verify --record FOLDER."
        ) from None
