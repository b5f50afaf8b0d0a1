"""Transactions in which handlers write and complete their jobs: both, or neither.

The completion is the ordinary one, `finish`, with its fence; only that it runs on the connection
that the handler has written on. So a worker that lost its lease cannot commit, and whether a
commit whose answer was lost took place is told by the state of the job: what the worker reports
afterwards is refused if it did.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    AsyncExitStack,
    ExitStack,
    asynccontextmanager,
    contextmanager,
)
from typing import Any, Final

from ..core.codec import Codecs
from ..core.model import Job
from ..core.outcome import Succeeded, decide
from ..core.transaction import Transaction
from ..errors import AttemptStopped, LeaseLost, UsageError, WouldBlock
from ..interrupts import Interruptible, present_call, uninterrupted
from ..stores.contract import Store
from ..stores.guest.guest import AsyncGuest, BlockingGuest
from ..stores.guest.recognize import guest_of
from ..stores.observed import engine_of
from ..stores.sql.operation import Plan
from ..stores.sql.store import SqlStore
from .hand import Claim
from .results import encoded

log = logging.getLogger("windlass")

LAST_WORDS: Final = 5.0
"""How many seconds a commit has to end once its handler is cancelled."""


class RolledBack(LeaseLost):
    """The commit found the lease lost, so that nothing of the attempt is left to write."""


class Transactions:
    """Begins them, and knows which attempts are past their end by it."""

    def __init__(
        self, store: Store, codecs: Codecs, max_result: int, forget: Callable[[Claim], None]
    ) -> None:
        self._store = engine_of(store)
        self._codecs = codecs
        self._max_result = max_result
        self._forget = forget
        self._loop = asyncio.get_running_loop()
        self.thread = threading.get_ident()
        self._open: set[Claim] = set()
        self._committing: set[Claim] = set()
        self.completed: dict[Claim, bool] = {}
        """attempts that still run, though their job is completed; whether with a result"""

    def begin(self, job: Job) -> Transaction:
        """A transaction for this attempt, not entered yet."""
        if not isinstance(self._store, SqlStore):
            raise UsageError(
                "context.transaction() needs a store on SQL, and this one is not: complete the "
                "job by returning, and make your writes harmless to repeat."
            )
        if (job.id, job.fence) in self.completed:
            raise UsageError(f"Job {job.id} is completed by a transaction already.")
        return _Transaction(self, self._store, self._loop, job)

    def decides(self, claim: Claim) -> bool:
        """Whether it is a commit, and not the heartbeat, that tells if this lease held."""
        return claim in self._committing or claim in self.completed

    def commits(self, claim: Claim) -> bool:
        """Whether a commit of this attempt is under way."""
        return claim in self._committing

    def ended(self, job: Job, value: Any = None, error: BaseException | None = None) -> bool:
        """An attempt has ended: whether that is all, since a transaction has settled its job.

        What it came to then changes nothing, and is logged if it was meant to.
        """
        claim = (job.id, job.fence)
        has_result = self.completed.pop(claim, None)
        if isinstance(error, RolledBack):
            log.warning("job %s: its lease was lost, so its transaction was rolled back", job.id)
        elif has_result is None:
            return False
        elif error is not None and not isinstance(error, asyncio.CancelledError):
            text = "job %s is completed; what its handler raised after that changes nothing"
            log.warning(text, job.id, exc_info=error)
        elif value is not None and not has_result:
            text = (
                "job %s is completed; what its handler returned after that is not kept: set the "
                "result of the transaction instead"
            )
            log.warning(text, job.id)
        self._forget(claim)
        return True

    @contextmanager
    def only_one(self, job: Job) -> Iterator[None]:
        """Around the block. On SQLite a second one would wait for the first, and so would everybody
        else."""
        claim = (job.id, job.fence)
        if claim in self._open:
            raise UsageError(
                f"Job {job.id} is in a transaction already: use the connection of that one."
            )
        self._open.add(claim)
        try:
            yield
        finally:
            self._open.discard(claim)

    @contextmanager
    def completing(self, job: Job, has_result: bool) -> Iterator[None]:
        """Around the commit."""
        claim = (job.id, job.fence)
        self._committing.add(claim)
        try:
            yield
            self.completed[claim] = has_result
        finally:
            self._committing.discard(claim)
        # The lease is gone by the completion: the heartbeat must not take that for a loss.
        if threading.get_ident() == self.thread:
            self._forget(claim)
        else:
            self._loop.call_soon_threadsafe(self._forget, claim)

    def completion(self, store: SqlStore, job: Job, value: Any) -> Plan[frozenset[str]]:
        codec = self._codecs.get(job.spec.content_type)
        result = encoded(job, codec, value, self._max_result)
        return store.finishing([decide(job, Succeeded(result))])


class _Transaction:
    """One of them. `with` for handlers in threads, `async with` for those on the event loop."""

    result: Any = None
    _call: Interruptible | None = None
    _was_hit = False
    """the handler was stopped before the block already"""
    _is_open = False

    def __init__(
        self,
        transactions: Transactions,
        store: SqlStore,
        loop: asyncio.AbstractEventLoop,
        job: Job,
    ) -> None:
        self._transactions = transactions
        self._store = store
        self._loop = loop
        self._job = job
        self._block: AbstractContextManager[Any] | None = None
        self._ablock: AbstractAsyncContextManager[Any] | None = None

    def __enter__(self) -> Any:
        if threading.get_ident() == self._transactions.thread:
            raise WouldBlock(
                "`with context.transaction()` would block the running event loop; in an async "
                "handler use `async with context.transaction()`."
            )
        try:
            with uninterrupted:
                return self._enter()
        except AttemptStopped:
            # It came after the beginning, and the handler's block will not be entered.
            if self._is_open:
                self._abandon()
            raise

    def __exit__(self, *raised: Any) -> None:
        with uninterrupted:
            assert self._block is not None
            if self._call is not None and self._call.was_hit() and not self._was_hit:
                # Whatever the handler made of it: it came in the midst of who knows what.
                stopped = self._abandon()
                if raised[0] is None:
                    raise stopped
            else:
                self._close()
                self._block.__exit__(*raised)

    def _enter(self) -> Any:
        call = self._call = present_call()
        self._was_hit = call is not None and call.was_hit()
        self._block = self._blocking()
        connection = self._block.__enter__()
        self._is_open = True
        if call is not None:
            # A handler can be stopped on its very way to `__exit__`; then its call ends the block.
            call.unended = (*call.unended, self._abandon)
        return connection

    def _close(self) -> None:
        self._is_open = False
        if self._call is not None:
            self._call.unended = [each for each in self._call.unended if each != self._abandon]

    def _abandon(self) -> AttemptStopped:
        """Roll back for a handler that was stopped; its connection is not used again."""
        self._close()
        assert self._block is not None
        stopped = AttemptStopped()
        self._block.__exit__(AttemptStopped, stopped, None)
        return stopped

    async def __aenter__(self) -> Any:
        if asyncio.get_running_loop() is not self._loop:
            raise UsageError(
                "`async with context.transaction()` is for async handlers, on the event loop of "
                "the worker; in a blocking handler use `with context.transaction()`."
            )
        self._ablock = self._suspending()
        return await self._ablock.__aenter__()

    async def __aexit__(self, *raised: Any) -> None:
        """Once begun, the end is seen through: a commit that is cut off would be one in doubt.

        Unless it takes too long; then the fence settles the doubt.
        """
        assert self._ablock is not None
        ending = asyncio.ensure_future(self._ablock.__aexit__(*raised))
        try:
            await asyncio.shield(ending)
        except asyncio.CancelledError:
            if not ending.done():
                await asyncio.wait([ending], timeout=LAST_WORDS)
                ending.cancel()
                await asyncio.wait([ending])
                if not ending.cancelled():
                    ending.exception()
            raise

    @contextmanager
    def _blocking(self) -> Iterator[Any]:
        with ExitStack() as stack:
            stack.enter_context(self._transactions.only_one(self._job))
            connection = stack.enter_context(self._store.loans.lend())
            yield connection
            guest = guest_of(connection)
            assert isinstance(guest, BlockingGuest)
            with self._completing(), stack.pop_all():
                _refuse_ended(guest.is_in_transaction())
                self._refuse_lost(guest.perform(self._store.dialect, self._completion()))

    @asynccontextmanager
    async def _suspending(self) -> AsyncIterator[Any]:
        async with AsyncExitStack() as stack:
            stack.enter_context(self._transactions.only_one(self._job))
            connection = await stack.enter_async_context(self._store.loans.alend())
            yield connection
            guest = guest_of(connection)
            with self._completing():
                async with stack.pop_all():
                    self._refuse_lost(await self._aperform(guest))

    async def _aperform(self, guest: BlockingGuest | AsyncGuest) -> frozenset[str]:
        dialect = self._store.dialect
        if isinstance(guest, AsyncGuest):
            _refuse_ended(await guest.is_in_transaction())
            return await guest.perform(dialect, self._completion())
        _refuse_ended(guest.is_in_transaction())
        return guest.perform(dialect, self._completion())

    def _completing(self) -> AbstractContextManager[None]:
        return self._transactions.completing(self._job, self.result is not None)

    def _completion(self) -> Plan[frozenset[str]]:
        return self._transactions.completion(self._store, self._job, self.result)

    def _refuse_lost(self, held: frozenset[str]) -> None:
        if self._job.id not in held:
            raise RolledBack(
                f"Job {self._job.id} was cancelled or belongs to another worker by now: nothing "
                "of this transaction is written."
            )


def _refuse_ended(is_open: bool) -> None:
    if not is_open:
        raise UsageError(
            "The transaction was ended within its block, so the job cannot be completed with it: "
            "leave commit and rollback to context.transaction()."
        )
