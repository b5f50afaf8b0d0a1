"""Whether a store of somebody's own keeps what is promised: the suite, then a chaos run.

Both run in private places on that server, which are gone afterwards: see `place`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Final

import msgspec

from ..stores.open import open_store
from . import suite
from .chaos.history import History
from .chaos.plan import ChaosPlan
from .chaos.run import run as run_chaos
from .chaos.verdict import Verdict
from .clock import FakeClock
from .place import private

TIMED: Final = "bounded"
"""The theme that measures: on a busy server it would tell of the others who are busy there."""

PATIENCE: Final = 60.0
"""The longest that one check may take, in seconds."""


class Failed(msgspec.Struct, frozen=True):
    """A check that the store did not pass, and why."""

    theme: str
    check: str
    reason: str


class Result(msgspec.Struct, frozen=True):
    """What a verification came to."""

    checks: int
    failed: Sequence[Failed]
    chaos: Verdict | None

    @property
    def is_clean(self) -> bool:
        return not self.failed and (self.chaos is None or self.chaos.is_clean)


def wanted(theme: str = "") -> list[suite.Check]:
    """The checks to run: of one theme, or of all that do not measure."""
    themes = {theme} if theme else {*suite.themes()} - {TIMED}
    return [each for each in suite.checks() if each.theme in themes]


async def verify(
    url: str,
    checks: Sequence[suite.Check],
    plan: ChaosPlan | None,
    told: Callable[[], None],
    keep: Callable[[History], None] | None = None,
) -> Result:
    """Run checks, and chaos if there is a plan for it.

    `told` is called after each check, and `keep` gets the history of the chaos.
    """
    await _reach(url)
    failed = []
    async for each in _conform(url, checks):
        if each is not None:
            failed.append(each)
        told()
    chaos = None if plan is None else await run_chaos(url, plan, keep=keep)
    return Result(len(checks), failed, chaos)


async def _reach(url: str) -> None:
    """Raise, once and before all checks, if nobody answers there."""
    async with private(url) as place:
        store = open_store(place)
        try:
            await store.open()
        finally:
            await store.close()


async def _conform(url: str, checks: Sequence[suite.Check]) -> AsyncIterator[Failed | None]:
    for check in checks:
        async with private(url) as place:
            try:
                async with asyncio.timeout(PATIENCE):
                    await _carry_out(place, check)
            except Exception as error:
                text = f"{type(error).__name__}: {error}".partition("\n")[0].rstrip(": ")
                yield Failed(check.theme, check.name, text)
            else:
                yield None


async def _carry_out(place: str, check: suite.Check) -> None:
    clock = FakeClock()
    store, another = open_store(place, clock=clock), open_store(place, clock=clock)
    try:
        await store.open()
        await another.open()
        await check.run(store, clock, another)
    finally:
        await another.close()
        await store.close()
