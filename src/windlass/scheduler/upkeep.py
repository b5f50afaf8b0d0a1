"""The upkeep services of one process, in the order in which they start."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from ..config import WorkerSettings
from ..core.clock import to_ms
from ..core.ids import new_id
from ..history.history import History
from ..observe.events import Events
from ..observe.ledger import Ledger
from ..service import Service
from ..stores.contract import Store
from ..task import Registry
from . import archiver
from .archiver import Archiver
from .leader import TERM, Leader
from .pruner import Pruner
from .rescuer import Rescuer
from .ticker import Ticker
from .unblocker import Unblocker


def upkeep(
    store: Store,
    registry: Registry,
    settings: WorkerSettings,
    history: History | None = None,
    ledger: Ledger | None = None,
    *,
    ticks: bool = True,
    holder: str | None = None,
) -> Sequence[Service]:
    """A leader, and what it does while it leads; without `ticks` all but schedules.

    In a worker `holder` is its id, so that its leaderships end with it: see `Store.abandon`.
    """
    holder = holder or new_id()
    events = registry.events
    # A leader that is killed must have a successor before its jobs are to be rescued.
    leader = Leader(store, holder, events=events, term=min(TERM, settings.lease / 2))
    keep = to_ms(settings.attempts_keep)
    return (
        leader,
        Rescuer(store, registry, leader, settings.rescue_interval, holder, ledger, keep),
        Unblocker(store, leader),
        *((Ticker(store, leader, registry.schedules, events),) if ticks else ()),
        Pruner(store, leader, settings.prune_interval),
        *(_archiving(store, holder, history, events) if history and history.is_kept else ()),
    )


def taking_over(services: Sequence[Service]) -> Callable[[str], Awaitable[None]]:
    """How the jobs of a worker that is gone are run again, of the upkeep of another one."""
    (rescuer,) = [service for service in services if isinstance(service, Rescuer)]
    return rescuer.take_over


def _archiving(store: Store, holder: str, history: History, events: Events) -> Sequence[Service]:
    """With a leader of its own: that of the rest may be a worker that knows of no history."""
    leader = Leader(store, holder, archiver.ROLE, events)
    return leader, Archiver(store, history.archive(), leader, history.settings)
