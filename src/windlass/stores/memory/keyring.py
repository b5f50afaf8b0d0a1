"""The keys of the API."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.apikey import ApiKey


class Keyring:
    """Keys by id, each as it was put last."""

    def __init__(self) -> None:
        self._keys: dict[str, ApiKey] = {}

    def put(self, keys: Sequence[ApiKey]) -> None:
        self._keys.update((key.id, key) for key in keys)

    def all(self) -> Sequence[ApiKey]:
        return [self._keys[id] for id in sorted(self._keys)]

    def drop(self, ids: Sequence[str]) -> frozenset[str]:
        known = frozenset(ids) & self._keys.keys()
        for id in known:
            del self._keys[id]
        return known
