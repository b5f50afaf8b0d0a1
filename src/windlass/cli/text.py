"""Text that can be shown: names, errors and URLs come from anywhere.

None of them may send control codes to the terminal or show a password.
"""

from __future__ import annotations

from ..core.url import without_secrets


def shown(text: str) -> str:
    """Text without control codes; lines and tabs stay."""
    return "".join(
        letter if letter.isprintable() or letter in "\n\t" else repr(letter)[1:-1]
        for letter in text
    )


def one_line(text: str) -> str:
    """The same on a line of its own, for what is read line by line."""
    return shown(" ".join(text.split()))


def masked(url: str) -> str:
    """A URL that can be shown."""
    return one_line(without_secrets(url))
