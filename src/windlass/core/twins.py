"""Methods that come twice, for blocking and for async code: what `help()` says of the second."""

from __future__ import annotations

from collections.abc import Iterator


def twins(kind: type) -> Iterator[tuple[str, str]]:
    """The pairs of a class, as in `get` and `aget`."""
    for name in vars(kind):
        if not name.startswith("_") and f"a{name}" in vars(kind):
            yield name, f"a{name}"


def document_twins(*kinds: type) -> None:
    """Give the async one of each pair a docstring, if it has none."""
    for kind in kinds:
        for name, twin in twins(kind):
            method = vars(kind)[twin]
            method.__doc__ = method.__doc__ or f"As `{name}`, from async code."
