"""The first lines: which store, how it fares as a whole, and whether it answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from ...admin.moment import span
from ...core.clock import to_datetime
from ...core.states import State
from ...core.stats import COMPLETED, FAILED
from .frame import Line, Span, Style, fit, wrap
from .look import Look
from .sparkline import rate, short, sparkline
from .ui import Ui

_TOTALS: Final = (State.PENDING, State.ACTIVE, State.RETRY, State.SCHEDULED, State.BLOCKED)
LONGEST_SPARK: Final = 60
MOST_LINES: Final = 3
"""What is wrong with the store takes no more."""


class Trouble(NamedTuple):
    """The store does not answer, or refuses; since how many milliseconds."""

    text: str
    lasting: int = 0


class Glyphs(NamedTuple):
    """The signs that a terminal has."""

    bars: str
    more: str
    here: str


def header(
    look: Look | None, ui: Ui, trouble: Trouble | None, where: str, width: int, glyphs: Glyphs
) -> Sequence[Line]:
    lines = [_title(look, ui, where, width, glyphs)]
    if trouble is not None:
        lasting = f"For {span(trouble.lasting)}: " if trouble.lasting >= 1000 else ""
        text = wrap(lasting + " ".join(trouble.text.split()), width)
        lines += [(Span(line, Style.BAD),) for line in text[:MOST_LINES]]
    if look is not None:
        lines += [_totals(look), _speeds(look, width, glyphs)]
    return lines


def _title(look: Look | None, ui: Ui, where: str, width: int, glyphs: Glyphs) -> Line:
    at = f"{to_datetime(look.now):%H:%M:%S}Z" if look is not None else "--:--:--"
    right = f" {at} every {ui.interval:g} s"
    name = "windlass top "
    room = max(width - len(right) - len(name), 0)
    return (
        Span(name, Style.TITLE),
        Span(fit(where, room, more=glyphs.more)),
        Span(right, Style.DIM),
    )


def _totals(look: Look) -> Line:
    counts = dict.fromkeys(State, 0)
    for queue in look.situation.queues:
        for state, number in queue.counts.items():
            counts[state] += number
    workers = look.situation.workers
    busy = sum(worker.active for worker in workers)
    slots = sum(worker.concurrency for worker in workers)
    dead = counts[State.DEAD]
    return (
        Span(
            f"workers {len(workers):,} ({short(busy)}/{short(slots)} busy)",
            Style.PLAIN if workers else Style.WARN,
        ),
        *(Span(f"  {state} {short(counts[state])}") for state in _TOTALS[:3]),
        Span(f"  dead {short(dead)}", Style.BAD if dead else Style.PLAIN),
        *(Span(f"  {state} {short(counts[state])}") for state in _TOTALS[3:]),
    )


def _speeds(look: Look, width: int, glyphs: Glyphs) -> Line:
    half = (width - 2) // 2
    left = _speed(look, COMPLETED, Style.GOOD, half, glyphs)
    return (*left, Span("  "), *_speed(look, FAILED, Style.BAD, half, glyphs))


def _speed(look: Look, name: str, style: Style, width: int, glyphs: Glyphs) -> Line:
    words = f"{name} {rate(look.rate(name)):<8} "
    length = max(min(width - len(words), LONGEST_SPARK), 0)
    return (Span(words), Span(sparkline(look.series(name, length), glyphs.bars), style))
