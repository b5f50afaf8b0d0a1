"""Labels and headers of a job: bounded, since they are in every listing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..errors import InvalidOption, shown
from .model import Spec

MOST_LABELS: Final = 64
MOST_BYTES: Final = 16 * 1024
"""How many labels a job may have, and bytes that they and its headers may take together, names and
values in UTF-8."""

OWN_BYTES: Final = 4 * 1024
"""What the headers of Windlass itself and of tracing may take besides."""


def checked_texts(value: Mapping[str, str], what: str) -> dict[str, str]:
    """Names and texts of a job; `what` are they, for the error."""
    if not isinstance(value, Mapping) or not all(
        isinstance(text, str) for pair in value.items() for text in pair
    ):
        raise InvalidOption(f"{what} is a mapping of texts to texts.")
    if len(value) > MOST_LABELS and what == "labels":
        raise InvalidOption(f"A job has at most {MOST_LABELS} labels; got {len(value):,}.")
    for text in (*value, *value.values()):
        try:
            text.encode()
        except UnicodeEncodeError:
            raise InvalidOption(
                f"{what} are texts that UTF-8 can hold; got {shown(text)}."
            ) from None
    _refuse_large(_size(value), MOST_BYTES)
    return dict(value)


def check_notes(spec: Spec, most: int = MOST_BYTES) -> None:
    """Raise for labels and headers that are too many, or take too much together."""
    labels, headers = spec.labels, spec.headers
    if labels is None and headers is None:
        return
    if labels is not None and len(labels) > MOST_LABELS:
        raise InvalidOption(f"A job has at most {MOST_LABELS} labels; got {len(labels):,}.")
    _refuse_large(_size(labels or {}) + _size(headers or {}), most)


def fit(spec: Spec, added: Mapping[str, Any]) -> bool:
    """Whether a job may have these headers of Windlass's own as well."""
    now = {**(spec.headers or {}), **added}
    return _size(spec.labels or {}) + _size(now) <= MOST_BYTES + OWN_BYTES


def _size(texts: Mapping[str, str]) -> int:
    return sum(len(text.encode("utf-8", "replace")) for pair in texts.items() for text in pair)


def _refuse_large(size: int, most: int) -> None:
    if size > most:
        raise InvalidOption(
            f"The labels and headers of a job take at most {most:,} bytes together; these take "
            f"{size:,}. Pass what is large as an argument."
        )
