"""What a worker says at its start of jobs that neither it nor another worker will run."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from ..admin.facts import served_by
from ..core.states import State
from ..errors import StoreError
from ..stores.contract import Store
from .text import one_line

log = logging.getLogger("windlass")

SHOWN: Final = 5


async def warn_of_waiting(store: Store, serves: Callable[[str], bool]) -> None:
    """Name queues with jobs that no worker serves; this one is not on their list yet."""
    try:
        found = [each for each in await store.queues() if each.counts.get(State.PENDING)]
        queues = [each for each in found if not serves(each.name)]
        workers = await store.workers() if queues else ()
    except StoreError as error:
        log.debug("it is not known which queues are served: %s", error)
        return
    serving = served_by(workers, [each.name for each in queues])
    lonely = [each for each in queues if not each.paused and not serving[each.name]]
    if lonely:
        each = ", ".join(
            f"{one_line(queue.name)} ({queue.counts[State.PENDING]:,})" for queue in lonely[:SHOWN]
        )
        log.warning(
            "Jobs wait in queues that no worker serves: %s%s. Start a worker with --queues that "
            "names them.",
            each,
            ", …" if len(lonely) > SHOWN else "",
        )
