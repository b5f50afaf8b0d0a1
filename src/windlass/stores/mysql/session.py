"""One operation in one transaction, in as few round trips as it allows.

What nobody waits for is not sent at once: it goes along with the next statement whose answer is
asked for, or with the commit. What is known beforehand to be asked for goes along with the begin.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from ...core.clock import Clock
from ..sql.operation import Bulk, Plan, Statement, T, arun
from .link import Answer, Link
from .script import Script, bulk, is_void, statements

WRITE: Final = ("START TRANSACTION",)
READ: Final = (
    "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
    "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
)

UNANSWERED: Final = frozenset(
    {
        "add_count",
        "add_edge",
        "add_lane",
        "add_stat",
        "add_term",
        "admit",
        "beat",
        "checkpoint",
        "claim",
        "close_edges",
        "complete",
        "count_lost",
        "drop",
        "drop_attempts",
        "drop_deltas",
        "drop_fences",
        "drop_order",
        "drop_schedule",
        "end",
        "forget_edges",
        "forget_orders",
        "forget_tallies",
        "forget_workers",
        "free_windows",
        "hold_window",
        "insert_fresh",
        "join",
        "keep_mail",
        "leave",
        "let_go",
        "note",
        "note_attempt",
        "owe",
        "pause",
        "pause_schedule",
        "prioritize",
        "promote",
        "prune_lanes",
        "prune_windows",
        "put_order",
        "put_schedule",
        "raise_clock",
        "raise_fence",
        "refund",
        "remove",
        "renew",
        "replace",
        "replay",
        "report",
        "reschedule",
        "resign",
        "resign_all",
        "restoring",
        "resume",
        "run_out",
        "save_lane",
        "send_back",
        "set_moment",
        "set_result",
        "set_term",
        "set_ticket",
        "settle",
        "start_turns",
        "take_back",
        "take_over",
        "tally",
        "tick",
        "trim_attempts",
        "wake",
    }
)
"""Queries of whose answer no operation makes use."""

MOST_STATEMENTS: Final = 500
"""How many statements go together, at the most."""

ENOUGH: Final = 32 * 1024
"""So many characters are worth a packet of their own, while the next one is written."""


class Session:
    """Answers what an operation asks for."""

    def __init__(self, link: Link, scripts: Mapping[str, Script]) -> None:
        self._link = link
        self._scripts = scripts
        self._waiting: list[str] = []
        self._size = 0
        self._under_way: asyncio.Future[list[Answer]] | None = None
        self._answers: list[Answer] = []
        self._foreseen: dict[str, Answer] = {}

    async def begin(
        self, begin: Sequence[str], clock: Clock | None, foreseen: Sequence[Statement]
    ) -> int:
        """Start the transaction; the moment at which it runs."""
        texts = [*begin]
        known: list[tuple[str, int]] = []
        for each in foreseen:
            texts += self._statements(each)
            known.append((texts[-1], len(texts) - 1))
        if clock is None:
            texts += self._statements(Statement("clock"))
        answers = await self._link.ask(texts)
        self._foreseen = {text: answers[at] for text, at in known}
        return int(answers[-1].rows[0][0]) if clock is None else clock()

    def begin_late(self, begin: Sequence[str]) -> None:
        """Start the transaction with the first thing that is sent."""
        self._waiting += begin

    async def execute(self, asked: Statement | Bulk) -> Any:
        texts: Iterable[str]
        if isinstance(asked, Statement):
            if is_void(asked.params):
                return ()
            texts = written = self._statements(asked)
            if known := self._foreseen.pop(written[-1], None):
                return known.rows
        else:
            script = self._scripts[asked.query]
            texts = bulk(script, asked.rows, self._link.literal, self._link.room)
        # What was seen before something else was asked for may not be so any more.
        self._foreseen.clear()
        number = 0
        for number, text in enumerate(texts, 1):  # noqa: B007
            await self._put(text)
        if asked.query in UNANSWERED:
            return ()
        mine = (await self._flush())[-number:] if number else []
        return mine[-1].rows if isinstance(asked, Statement) else sum(each.changed for each in mine)

    async def commit(self) -> None:
        self._waiting.append("COMMIT")
        await self._flush()

    async def abandon(self) -> None:
        """See the end of what is under way, and give the transaction up."""
        if self._under_way is not None:
            await asyncio.wait([self._under_way])
            self._under_way.exception()
        await self._link.rollback()

    async def _put(self, text: str) -> None:
        """Let a statement wait; if enough do, let them go without waiting for their answers."""
        self._waiting.append(text)
        self._size += len(text)
        if self._size > min(ENOUGH, self._link.room) or len(self._waiting) >= MOST_STATEMENTS:
            await self._settle()
            texts, self._waiting, self._size = self._waiting, [], 0
            self._under_way = asyncio.ensure_future(self._link.ask(texts))
            # It is sent in this turn of the loop, and worked on while we write the next.
            await asyncio.sleep(0)

    async def _flush(self) -> list[Answer]:
        """All answers that nobody has had."""
        await self._settle()
        texts, self._waiting, self._size = self._waiting, [], 0
        if texts:
            self._answers += await self._link.ask(texts)
        answers, self._answers = self._answers, []
        return answers

    async def _settle(self) -> None:
        under_way, self._under_way = self._under_way, None
        if under_way is not None:
            self._answers += await under_way

    def _statements(self, asked: Statement) -> list[str]:
        return statements(self._scripts[asked.query], asked.params, self._link.literal)


async def transact(
    session: Session,
    plan: Plan[T],
    clock: Clock | None,
    foreseen: Sequence[Statement] = (),
    begin: Sequence[str] = WRITE,
) -> T:
    """Run an operation to its commit. Whatever is raised, the caller rolls back."""
    now = await session.begin(begin, clock, foreseen)
    answer = await arun(plan(now), session.execute)
    await session.commit()
    return answer
