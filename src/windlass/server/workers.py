"""What serves workers in other languages, over whichever API they come."""

from __future__ import annotations

from ..app import Windlass
from ..observe.ledger import Ledger
from ..stores.contract import Store
from .chores import Chores
from .fetch import Fetches
from .handout import Handout
from .leases import Leases
from .work import Work


class Workers:
    """Claims jobs for workers, and takes in what they say of them. Both APIs have the same one."""

    def __init__(self, app: Windlass, store: Store, ledger: Ledger, max_result: int) -> None:
        leases = Leases()
        self._chores = Chores(app, store, ledger, max_result)
        self.fetches = Fetches(store, Handout(app.codecs, self._chores), leases)
        self.work = Work(app, store, ledger, max_result, leases)

    def start(self) -> None:
        self._chores.start()

    def release(self) -> None:
        """Let no worker wait any longer."""
        self.fetches.release()

    async def stop(self) -> None:
        """Give back what nobody gets any more, and write what is left to write."""
        await self.fetches.stop()
        await self._chores.stop()
