"""Texts that are not ours, as they are stored: without what no engine takes, and not too long."""

from __future__ import annotations

from typing import Final

HEAD: Final = 0.4
"""The part of an excerpt that is from the beginning."""

NEAR: Final = 200
"""An end is cut where a line ends, if that is no further away."""

GAP: Final = "[… {:,} characters left out …]"
WIDEST_GAP: Final = len(GAP) + 20


def storable(text: str) -> str:
    """Text that every engine takes: no NUL, nothing that UTF-8 cannot hold."""
    return text.replace("\0", "\\0").encode("utf-8", "backslashreplace").decode("utf-8")


def excerpt(text: str, most: int) -> str:
    """The text, or its beginning and its end with what is missing told between them.

    At most `most` letters in all.
    """
    if len(text) <= most:
        return text
    room = max(most - WIDEST_GAP, 0)
    head = text[: int(room * HEAD)]
    tail = text[len(text) - (room - len(head)) :] if room else ""
    head = head[: head.rfind("\n", max(len(head) - NEAR, 0)) + 1] or head
    tail = tail[max(tail.find("\n", 0, NEAR), 0) :]
    return f"{head}{GAP.format(len(text) - len(head) - len(tail))}{tail}"[:most]
