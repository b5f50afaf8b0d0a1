"""Everything at a glance, and what needs somebody."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from urllib.parse import quote, urlencode

import msgspec

from ...admin.attention import Attention, Kind
from ...admin.moment import iso
from ...core.states import State
from ...core.stats import WHOLE
from ..panorama import Panorama
from .call import Call
from .queues import QueueView, views


class QueueOverview(QueueView, frozen=True):
    """A queue as it is now, and how fast it goes."""

    workers: int
    """that serve it"""
    rate: float | None
    """jobs that were completed in the last whole minute; null if there are too many queues"""


class AttentionView(msgspec.Struct, frozen=True):
    """One thing to look into."""

    kind: Kind
    text: str
    queue: str | None
    schedule: str | None
    link: str | None
    """where the dashboard has more about it, from its root on"""


class CrewOverview(msgspec.Struct, frozen=True):
    """All workers together."""

    workers: int
    quiet: int
    slots: int
    active: int


class Overview(msgspec.Struct, frozen=True):
    """The whole store as it is now."""

    at: str | None
    queues: Sequence[QueueOverview]
    crew: CrewOverview
    totals: Mapping[State, int]
    """jobs in each state; states with none are left out"""
    rate: float
    """jobs that were completed in the last whole minute"""
    attention: Sequence[AttentionView]
    """what needs somebody, the most urgent kind first"""


async def get_overview(call: Call[None, None]) -> Overview:
    """Show all queues, the workers together, and what needs attention."""
    found = await call.site.lookout.get(call.store, call.caller.queues)
    snapshot = found.snapshot
    totals: Counter[State] = Counter()
    for queue in snapshot.queues:
        totals.update(queue.counts)
    crew = snapshot.workers
    return Overview(
        iso(snapshot.at),
        [_queue(view, found) for view in views(snapshot)],
        CrewOverview(
            len(crew),
            sum(not worker.claims for worker in crew),
            sum(worker.concurrency for worker in crew),
            sum(worker.active for worker in crew),
        ),
        totals,
        found.rates.get(WHOLE, 0.0),
        [_attention(each) for each in found.attention],
    )


def _queue(view: QueueView, found: Panorama) -> QueueOverview:
    rate = found.rates.get(view.name, 0.0) if view.name in found.counted else None
    return QueueOverview(
        **msgspec.structs.asdict(view), workers=found.serving[view.name], rate=rate
    )


def _attention(each: Attention) -> AttentionView:
    return AttentionView(each.kind, each.text, each.queue, each.schedule, _link(each))


def _link(each: Attention) -> str | None:
    """The view of the dashboard that shows the thing; none of what stands for several."""
    if each.schedule is not None:
        return "ui/cron"
    if each.kind == "upkeep":
        return "ui/workers"
    if each.queue is None:
        return "ui/queues"
    match each.kind:
        case "dead" | "failing":
            view = "ui/dead" if each.kind == "dead" else "ui/jobs"
            return f"{view}?{urlencode({'queue': each.queue})}"
        case _:
            return f"ui/queues/{quote(each.queue, safe='')}"
