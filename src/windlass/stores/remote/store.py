"""The contract over HTTP: a store that a server keeps for those who may not reach the engine.

What it can do is what its key allows: see the roles in `server/procedures.py`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import msgspec

from ...core.attempts import AttemptRecord
from ...core.model import Job, NewJob, Receipt
from ...errors import PayloadTooLarge, StoreUnavailable
from ..contract import Store
from .calls import CALLS, Call, as_sent, encode
from .fault import unreadable
from .http import HttpTransport
from .url import Settings

P = ParamSpec("P")
T = TypeVar("T")


def remote(
    method: Callable[Concatenate[Any, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[RemoteStore, P], Coroutine[Any, Any, T]]:
    """A method of the contract that is carried out by the server."""
    call = CALLS[method.__name__]

    @wraps(method)
    async def carry_out(self: RemoteStore, /, *args: P.args, **kwargs: P.kwargs) -> T:
        answer: T = await self.ask(call, call.arguments(*args, **kwargs))
        return answer

    return carry_out


class RemoteStore:
    """A store behind a server."""

    blocking = False
    is_served = True
    """what is done to jobs is counted over there"""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._transport = HttpTransport(settings)

    def __repr__(self) -> str:
        return f"<RemoteStore {self._settings.address}>"

    async def ask(
        self,
        call: Call,
        arguments: msgspec.Struct,
        longer: float = 0.0,
        patience: float | None = None,
    ) -> Any:
        """What the server answers to a call; `longer` is how long it may wait besides."""
        body = encode(arguments)
        answer = await self._transport.send(call.name, body, longer=longer, patience=patience)
        try:
            return call.decode_answer(answer)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise unreadable(self._settings.address, error) from error

    async def open(self) -> None:
        self._transport.open()
        try:
            await self.ping()
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        await self._transport.close()

    async def insert(self, jobs: Sequence[NewJob]) -> Sequence[Receipt]:
        return as_sent(jobs, await self._insert(jobs))

    async def get(self, ids: Sequence[str]) -> Mapping[str, Job]:
        return await _in_halves(self._get, ids)

    async def attempts(self, ids: Sequence[str]) -> Mapping[str, Sequence[AttemptRecord]]:
        return await _in_halves(self._attempts, ids)

    async def wait(self, queues: Sequence[str], timeout: float) -> None:
        call = CALLS["wait"]
        try:
            # Once only: a second sending would wait for as long again.
            await self.ask(call, call.arguments(queues, timeout), max(timeout, 0.0), patience=0)
        except StoreUnavailable:
            await self.ping()

    _insert = remote(Store.insert)
    migrate = remote(Store.migrate)
    ping = remote(Store.ping)
    now = remote(Store.now)
    _get = remote(Store.get)
    claim = remote(Store.claim)
    renew = remote(Store.renew)
    finish = remote(Store.finish)
    report = remote(Store.report)
    checkpoint = remote(Store.checkpoint)
    signal = remote(Store.signal)
    rescue = remote(Store.rescue)
    abandon = remote(Store.abandon)
    unblock = remote(Store.unblock)
    prune = remote(Store.prune)
    elect = remote(Store.elect)
    resign = remote(Store.resign)
    beat = remote(Store.beat)
    leave = remote(Store.leave)
    note_attempts = remote(Store.note_attempts)
    tally = remote(Store.tally)
    put_schedules = remote(Store.put_schedules)
    schedules = remote(Store.schedules)
    pause_schedules = remote(Store.pause_schedules)
    drop_schedules = remote(Store.drop_schedules)
    tick = remote(Store.tick)
    put_keys = remote(Store.put_keys)
    keys = remote(Store.keys)
    drop_keys = remote(Store.drop_keys)
    had_keys = remote(Store.had_keys)
    end_logins = remote(Store.end_logins)
    ended_logins = remote(Store.ended_logins)
    keep_journal = remote(Store.keep_journal)
    read_journal = remote(Store.read_journal)
    trim_journal = remote(Store.trim_journal)
    restore = remote(Store.restore)
    find = remote(Store.find)
    queues = remote(Store.queues)
    oldest = remote(Store.oldest)
    lanes = remote(Store.lanes)
    risks = remote(Store.risks)
    workers = remote(Store.workers)
    leaders = remote(Store.leaders)
    direct = remote(Store.direct)
    _attempts = remote(Store.attempts)
    stats = remote(Store.stats)
    prioritize = remote(Store.prioritize)
    reschedule = remote(Store.reschedule)
    cancel = remote(Store.cancel)
    replay = remote(Store.replay)
    delete = remote(Store.delete)
    pause = remote(Store.pause)
    resume = remote(Store.resume)


async def _in_halves(
    ask: Callable[[Sequence[str]], Awaitable[Mapping[str, T]]], ids: Sequence[str]
) -> Mapping[str, T]:
    """What a server has of these jobs, which may be more than it answers at once."""
    try:
        return await ask(ids)
    except PayloadTooLarge:
        if len(ids) < 2:
            raise
    middle = len(ids) // 2
    first = await _in_halves(ask, ids[:middle])
    return {**first, **await _in_halves(ask, ids[middle:])}
