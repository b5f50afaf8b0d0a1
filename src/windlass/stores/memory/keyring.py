"""The keys of the API, and the logins that were ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...core.apikey import ApiKey


class Keyring:
    """Keys by id, each as it was put last."""

    def __init__(self) -> None:
        self._keys: dict[str, ApiKey] = {}

        self._logins: dict[str, int] = {}
        self.had_keys = False

    def put(self, keys: Sequence[ApiKey]) -> None:
        self._keys.update((key.id, key) for key in keys)
        self.had_keys = self.had_keys or bool(keys)

    def all(self) -> Sequence[ApiKey]:
        return [self._keys[id] for id in sorted(self._keys)]

    def drop(self, ids: Sequence[str]) -> frozenset[str]:
        known = frozenset(ids) & self._keys.keys()
        for id in known:
            del self._keys[id]
        return known

    def end_logins(self, logins: Mapping[str, int], now: int) -> None:
        self._logins = {**self.ended_logins(now), **logins}

    def ended_logins(self, now: int) -> Mapping[str, int]:
        return {login: until for login, until in self._logins.items() if until > now}
