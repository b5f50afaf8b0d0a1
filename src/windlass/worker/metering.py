"""The metrics of a worker: who counts them, and where they are told."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ..config import WorkerSettings
from ..errors import MissingExtra
from ..observe.endpoint import Answer, Endpoint
from ..observe.events import Events
from ..observe.figures import Figures

if TYPE_CHECKING:
    from ..observe.prometheus import Metrics


def metrics_for(events: Events) -> Metrics:
    """Metrics that count from now on; calls of the store, of stores that are opened afterwards."""
    _need_extra()
    from ..observe.prometheus import Metrics

    metrics = Metrics()
    events.observe(metrics)
    return metrics


def endpoint(
    settings: WorkerSettings,
    figures: Callable[[], Figures],
    fault: Callable[[], str | None],
    due: Callable[[], str | None] = lambda: None,
) -> Endpoint:
    """Where they are told; `fault` is why the worker is not ready, `due` why its process should be
    replaced."""
    _need_extra()
    from ..observe.exposition import text
    from ..observe.prometheus import CONTENT_TYPE, families

    def scrape() -> Answer:
        return Answer(text(families(figures())), CONTENT_TYPE)

    return Endpoint(settings.metrics_host, settings.metrics_port, scrape, fault, due)


def _need_extra() -> None:
    if find_spec("prometheus_client") is None:
        raise MissingExtra("metrics_port needs an extra: pip install 'windlass[metrics]'.")
