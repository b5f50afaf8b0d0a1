"""What happens to every request: who is it, may they, what do they want, what came of it.

Speaks ASGI itself: the objects that a framework would make for each request cost more than all of
this together.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Any, Final

from ...errors import Forbidden
from ...observe.carrier import join
from ..access import AccessLog
from ..caller import ANYONE, Caller
from ..faults import UNEXPECTED, Draining, Late, fault_of
from ..keyring import over_for
from ..site import Site
from .answer import (
    CLOSE,
    Send,
    encoded,
    send_lines,
    send_problem,
    send_whole,
    sent_directly,
)
from .body import Body, Disconnected, Query, Receive, read_body
from .call import AUDITED, Call, Events, Headers, Lines, Reply, Scope, address_of
from .deadline import Deadline, Overdue
from .door import Door
from .exchange import admit, exchange_of
from .route import Route
from .sse import send_events

log = logging.getLogger("windlass.http")

MOST_OF_ANYBODY: Final = 4 * 1024
"""Bytes of a body that is read without a key."""


class Endpoint:
    """One method at one address."""

    def __init__(self, route: Route, site: Site, access: AccessLog) -> None:
        self.route = route
        self._site = site
        self._access = access
        self._door = Door(site)
        self._handler = route.handler
        self._query = Query(route.query)
        self._reads_query = bool(route.query.__struct_fields__)
        self._body = None if route.body is None else Body(route.body, optional=route.body_optional)
        self._status = min(route.answers)
        self._waits = bool(route.longest) or "wait" in route.query.__struct_fields__
        self._deadline = Deadline(site.settings.request_timeout + route.longest)
        self._body_deadline = Deadline(site.settings.body_timeout)

    async def __call__(
        self, scope: Scope, receive: Receive, send: Send, path: Mapping[str, str]
    ) -> None:
        began = time.perf_counter()
        caller, headers = ANYONE, dict(scope["headers"])
        try:
            if self._door.asks_host and not self.route.is_public:
                caller = await self._door.ask_host(scope, headers)
            elif not self.route.is_public:
                caller = self._door.admit(scope["method"], headers)
            if not self.route.is_public:
                admit(scope)
            if self.route.role is not None:
                caller.require(self.route.role)
            if self._site.settings.tracing:
                join(scope["headers"])
            call = await self._call(caller, scope, receive, headers, path)
            value = await self._carry_out(call, receive)
            try:
                status = await self._answer(value, caller, scope, headers, receive, send)
            except BaseException:
                _take_back(value)
                raise
        except Disconnected:
            status = 499
        except asyncio.CancelledError:
            if not self._site.draining.is_set():
                raise
            error = Draining("The server is stopping, and this took too long; ask another one.")
            status = await self._refuse(error, call=(caller, path), scope=scope, send=send)
        except Exception as error:
            status = await self._refuse(error, call=(caller, path), scope=scope, send=send)
        self._log(scope["method"], status, began, caller)

    async def _call(
        self,
        caller: Caller,
        scope: Scope,
        receive: Receive,
        headers: Mapping[bytes, bytes],
        path: Mapping[str, str],
    ) -> Call[Any, Any]:
        query = None
        if self._reads_query or scope["query_string"]:
            query = self._query.read(scope["query_string"])
        body: Any = None
        if self._body is not None or self.route.is_raw:
            most = self._site.settings.max_body
            if self.route.is_public:
                most = min(most, MOST_OF_ANYBODY)
            direct = exchange_of(scope)
            is_there = direct is not None and direct.is_whole
            data = await read_body(receive, headers, most, self._body_deadline, direct)
            if not is_there and not self.route.is_public:
                # It may have taken longer than the key has lasted.
                self._site.keyring.refuse_over(caller)
            body = data if self._body is None else self._body.decode(data, _type(headers))
        return Call(self._site, self.route.name, caller, scope, path, headers, query, body)

    async def _carry_out(self, call: Call[Any, Any], receive: Receive) -> Any:
        if not self._waits:
            try:
                return await self._deadline.hold(self._handler(call))
            except Overdue:
                raise _late(self._deadline.seconds) from None
        wait = call.wait(getattr(call.query, "wait", 0.0))
        limit = self._deadline.seconds + wait
        try:
            async with asyncio.timeout(limit) as bound:
                if wait or self.route.longest:
                    with self._site.keyring.held(call.caller) as over:
                        return await _attended(self._handler(call), receive, over, call.caller)
                return await self._handler(call)
        except TimeoutError:
            if bound.expired():
                raise _late(limit) from None
            raise

    @property
    def _last(self) -> Headers:
        """What tells a client to come back on another connection, once the server is to stop."""
        return CLOSE if self._site.draining.is_set() else ()

    async def _answer(
        self,
        value: Any,
        caller: Caller,
        scope: Scope,
        headers: Mapping[bytes, bytes],
        receive: Receive,
        send: Send,
    ) -> int:
        method, direct = scope["method"], exchange_of(scope)
        if isinstance(value, Events):
            with self._site.keyring.held(caller) as over:
                draining = self._site.draining
                await send_events(value.stream, receive, send, draining, method, over)
        elif isinstance(value, Lines):
            with self._site.keyring.held(caller) as over:
                await send_lines(send, value, method, over.done)
        else:
            answer, last = encoded(value, self._status, headers), self._last
            is_usual = not last and method != "HEAD"
            if direct is None or not is_usual or not sent_directly(direct, answer):
                await send_whole(send, answer, method, last)
            return answer.status
        return HTTPStatus.OK

    async def _refuse(
        self,
        error: Exception,
        call: tuple[Caller, Mapping[str, str]],
        scope: Scope,
        send: Send,
    ) -> int:
        fault = fault_of(error)
        if fault is UNEXPECTED:
            log.error("%s %s failed", scope["method"], self.route.path, exc_info=error)
        elif fault.is_ours and not isinstance(error, Draining):
            log.warning("%s %s failed: %s", scope["method"], self.route.path, error)
        # What may be done by many roles is noted where the role is known: see `procedures`.
        is_forbidden = isinstance(error, Forbidden) and self.route.role is not None
        if (self.route.is_audited or is_forbidden) and AUDITED not in scope:
            caller, path = call
            address = address_of(scope)
            self._site.audit.note(caller, address, self.route.name, dict(path), fault.sentence)
        await send_problem(send, fault, scope["method"], self._last)
        return fault.status

    def _log(self, method: str, status: int, began: float, caller: Caller) -> None:
        took = time.perf_counter() - began
        self._site.meter.count(method, self.route.path, status, took)
        self._access.note((method, self.route.path, status, took * 1000, caller.name))


def _late(limit: float) -> Late:
    return Late(f"The request was not carried out within {limit:g} s.")


async def _attended(
    answer: Awaitable[Any], receive: Receive, over: asyncio.Future[None], caller: Caller
) -> Any:
    """Wait for an answer while there is a client to get it, and it is not over for who calls."""
    waiting = asyncio.ensure_future(answer)
    leaving = asyncio.ensure_future(_left(receive))
    try:
        await asyncio.wait((waiting, leaving, over), return_when=asyncio.FIRST_COMPLETED)
        if not waiting.done():
            raise over_for(caller) if over.done() else Disconnected
        value = waiting.result()
        if leaving.done():
            _take_back(value)
            raise Disconnected
        return value
    except asyncio.CancelledError:
        if waiting.done() and not waiting.cancelled() and waiting.exception() is None:
            # It came in this very moment, and nobody gets it.
            _take_back(waiting.result())
        raise
    finally:
        for task in (waiting, leaving):
            task.cancel()
            # What the one that matters came to was taken from it above; nobody waits for the other.
            with suppress(asyncio.CancelledError, Exception):
                await task


def _take_back(value: Any) -> None:
    """Undo what an answer stands for that nobody gets."""
    if isinstance(value, Reply) and value.unsent is not None:
        value.unsent()


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _type(headers: Mapping[bytes, bytes]) -> bytes | None:
    return headers.get(b"content-type")
