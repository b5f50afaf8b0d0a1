"""Where a check runs: a store without jobs, a second handle on its data, and their clock."""

from pathlib import Path

from tests.conformance.stores import Maker
from windlass.stores.contract import Store
from windlass.testing.clock import START, FakeClock


class Place:
    """The data of one store. It can be emptied and used again, with its handles left open."""

    def __init__(self, make: Maker, path: Path) -> None:
        self._make = make
        self._path = path
        self._store: Store | None = None
        self._another: Store | None = None
        self.clock = FakeClock()

    @property
    def store(self) -> Store:
        assert self._store is not None
        return self._store

    async def empty(self) -> None:
        """Remove all data, turn the clock back, and open the store unless it is open."""
        self.clock.now = START
        handle = self._make(self._path, self.clock)
        if self._store is None:
            self._store = handle()
            await self._store.open()
            self._handle = handle

    async def open_another(self) -> Store:
        """The second handle, which may be the same object for a store within one process."""
        if self._another is None:
            self._another = self._handle()
            if self._another is not self._store:
                await self._another.open()
        return self._another

    async def close(self) -> None:
        for store in (self._another, self._store):
            if store is not None:
                await store.close()
        self._store = self._another = None
