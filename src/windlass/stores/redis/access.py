"""How one shard is asked: scripts on its keys, and plain commands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.clock import Clock
from ...errors import StoreError
from .fault import Mistyped
from .io import Word
from .keys import FIXED, Keys
from .portions import parts
from .record import pack_queue
from .scripts import script
from .transport import Transport


class Access:
    """The way to one shard."""

    def __init__(self, transport: Transport, keys: Keys, channel: str, clock: Clock | None) -> None:
        self._transport = transport
        self._keys = keys
        self._channel = channel
        self._clock = clock
        self.blocking = transport.blocking

    async def run(
        self,
        name: str,
        queues: Sequence[str] = (),
        args: Sequence[Word] = (),
        *,
        more: Sequence[str] = (),
        fixed: int = len(FIXED),
        again: bool = False,
    ) -> Any:
        """Run a script that works on the shard's keys, or the first of them, on those of `queues`,
        and on `more` that are given in full."""
        keys = self._keys.fixed[:fixed]
        head: list[Word] = [self.now, self._channel, len(queues)]
        for queue in queues:
            keys += self._keys.pair(queue)
            head.append(pack_queue(queue))
        keys += more
        head += args
        try:
            return await self._transport.run(self._keys.slot, script(name), keys, head, again=again)
        except Mistyped as error:
            raise await self._named(error, keys) from None

    async def run_on(self, name: str, keys: Sequence[str], args: Sequence[Word] = ()) -> Any:
        """Run a script on keys of its own, by their names within the shard."""
        return await self.run_with(name, [self._keys.of(key) for key in keys], args)

    async def run_with(self, name: str, keys: Sequence[str], args: Sequence[Word]) -> Any:
        """Run a script on keys that are given in full."""
        words = (self.now, *args)
        try:
            return await self._transport.run(self._keys.slot, script(name), keys, words)
        except Mistyped as error:
            raise await self._named(error, keys) from None

    async def send(self, command: str, key: str, *words: Word) -> Any:
        """A plain command on one key of the shard."""
        try:
            return await self._transport.send(self._keys.slot, command, self._keys.of(key), *words)
        except Mistyped as error:
            raise await self._named(error, [self._keys.of(key)]) from None

    async def _named(self, error: Mistyped, keys: Sequence[str]) -> StoreError:
        """What to say of a call that met a key of another type."""
        wrong = await self.mistyped(keys)
        return StoreError(wrong[0]) if wrong else error

    async def mistyped(self, keys: Sequence[str]) -> list[str]:
        """A sentence for each of these keys, given in full, that somebody else has written over."""
        found: list[str] = []
        for part in parts(list(keys)):
            kinds = await self._transport.run(self._keys.slot, script("kinds"), part, (self.now,))
            for key, raw in zip(part, kinds, strict=True):
                kind, right = raw.decode(), self._keys.kind_of(key)
                if kind not in ("none", right):
                    found.append(
                        f"The key {key} in Redis is a {kind} and should be a {right}: something "
                        "else has written over it. See what uses this namespace besides Windlass, "
                        "remove or rename the key, and ask windlass doctor what is missing."
                    )
        return found

    def key_of(self, name: str) -> str:
        """A key of the shard in full."""
        return self._keys.of(name)

    async def exist(self, *keys: str) -> int:
        """How many of these keys of the shard there are."""
        number: int = await self._transport.send(
            self._keys.slot, "EXISTS", *(self._keys.of(key) for key in keys)
        )
        return number

    async def drop(self, *keys: str) -> None:
        """Remove keys of the shard."""
        await self._transport.send(self._keys.slot, "DEL", *(self._keys.of(key) for key in keys))

    async def time(self) -> int:
        """The store's time in milliseconds."""
        if self._clock is not None:
            return self._clock()
        seconds, micros = await self._transport.send(self._keys.slot, "TIME")
        return int(seconds) * 1000 + int(micros) // 1000

    @property
    def now(self) -> int | str:
        """For a script: the time of a test's clock, or nothing, and Redis takes its own."""
        return "" if self._clock is None else self._clock()
