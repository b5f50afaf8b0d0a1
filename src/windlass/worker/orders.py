"""What a worker does when it is told something from outside: see `Oversight.direct`."""

from __future__ import annotations

import logging
from collections.abc import Callable

from ..core.workers import Order
from .fetcher import Fetcher
from .runner import Runner

log = logging.getLogger("windlass")


class Orders:
    """Follows the order that stands, which comes again with every beat."""

    def __init__(self, fetcher: Fetcher, runner: Runner, stop: Callable[[], None]) -> None:
        self._fetcher = fetcher
        self._runner = runner
        self._stop = stop
        self.dismissed = False
        """whether it was told to stop"""

    def follow(self, order: Order | None) -> None:
        """To be called on the worker's event loop. Without an order a worker works."""
        if self.dismissed:
            return
        if order == "stop":
            log.info("told to stop")
            self.dismissed = True
            # At once, whenever the program that it is a part of sees to the rest.
            self._hush()
            self._stop()
        elif order == "quiet" and not self._fetcher.quiet:
            log.info("told to be quiet: no more jobs are claimed, those that run may finish")
            self._hush()
        elif order != "quiet" and self._fetcher.quiet:
            log.info("told to work again")
            self._fetcher.quiet = False

    def _hush(self) -> None:
        self._fetcher.quiet = True
        self._runner.waiting.release()
