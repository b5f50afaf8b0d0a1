"""What happens to every request: who is it, may they, what do they want, what came of it.

Methods are found by the descriptors of their services, so that none can be served past this.
Messages are read and written here, not by grpc: it would answer a malformed one with a status that
says nothing.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing
from inspect import isasyncgenfunction
from typing import Any, Final, NoReturn, cast

import grpc
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass
from grpc import aio

from ...core.apikey import Role
from ...errors import Forbidden, Unauthenticated
from ...observe.carrier import join
from ..access import AccessLog
from ..audit import LEFT
from ..caller import ANYONE, Caller
from ..faults import UNEXPECTED, Fault, Late, Malformed, TooMany, fault_of
from ..keyring import WRONG_KEY, key_in, over_for
from ..site import Site
from ..until import until
from .call import Call, Context, address_of
from .rules import ANY, PUBLIC, RULES

log = logging.getLogger("windlass.grpc")

Unary = Callable[[Call[Any]], Awaitable[Message]]
Streaming = Callable[[Call[Any]], AsyncIterator[Message]]

CODES: Final[Mapping[int, grpc.StatusCode]] = {code.value[0]: code for code in grpc.StatusCode}
LINE: Final = "%s %s %.1f ms %s"
"""Of the access log: method, status, milliseconds, caller."""

OWN: Final = "windlass.v1"
"""Other services, whose messages others define, take what they do not know as it was meant."""

ERROR: Final = "windlass-error"
RETRY_AFTER: Final = "retry-after"
"""What goes along with a refusal: the name of the error in Python, and seconds to wait."""

MOST_STRANGERS: Final = 200
"""Streams of one method that anybody may have, all together. Each takes some 20 KiB."""

_CAPITAL: Final = re.compile(r"(?<!^)(?=[A-Z])")


class Gate(grpc.GenericRpcHandler):
    """All methods of some services. A method `EnqueueMany` is `enqueue_many` of its service."""

    def __init__(
        self,
        site: Site,
        services: Mapping[ServiceDescriptor, object],
        rules: Mapping[str, Role | str] = RULES,
    ) -> None:
        self._methods: dict[str, tuple[Door, Any, Any]] = {}
        """by path: what is let in, and how it is answered if it is, and if not"""
        access = AccessLog("windlass.grpc", LINE, is_kept=site.settings.access_log)
        for service, answers in services.items():
            for method in service.methods:
                path = f"/{service.full_name}/{method.name}"
                answer = getattr(answers, _CAPITAL.sub("_", method.name).lower())
                door = Door(site, method, rules.get(method.full_name), access)
                self._methods[path] = door, door.handler(answer), door.refusal()

    def service(
        self, handler_call_details: grpc.HandlerCallDetails
    ) -> grpc.RpcMethodHandler[bytes, bytes] | None:
        found = self._methods.get(handler_call_details.method)
        if found is None:
            return None
        door, handler, refusal = found
        # Here, for the message is not read yet: nobody without a key has one in our memory.
        return handler if door.knows(handler_call_details.invocation_metadata) else refusal  # type: ignore[no-any-return]


class Door:
    """One method."""

    def __init__(
        self, site: Site, method: MethodDescriptor, rule: Role | str | None, access: AccessLog
    ) -> None:
        self._site = site
        self._method = method
        self._rule = rule
        self._access = access
        self._is_audited = rule in (Role.OPERATE, Role.ADMIN)
        self._kind = GetMessageClass(method.input_type)
        self._is_ours = method.containing_service.file.package == OWN
        self._longest = site.settings.request_timeout
        self._strangers = 0
        """streams that are open without a key"""

    def handler(self, answer: Any) -> grpc.RpcMethodHandler[bytes, bytes]:
        """The method, as grpc is to call it."""
        if self._method.client_streaming:
            return grpc.stream_stream_rpc_method_handler(self._stream(answer, self._read_each))
        if isasyncgenfunction(answer):
            # Whether one message was sent or the first of many is the same to a client.
            return grpc.unary_stream_rpc_method_handler(self._stream(answer, self._read))
        return grpc.unary_unary_rpc_method_handler(self._unary(answer))

    def refusal(self) -> grpc.RpcMethodHandler[bytes, bytes]:
        """The method for those who have no key: what they send is left unread."""

        async def nothing(call: Call[Any]) -> AsyncIterator[Message]:
            raise Unauthenticated(WRONG_KEY)
            yield

        return grpc.stream_stream_rpc_method_handler(self._stream(nothing, lambda given: None))

    def knows(self, metadata: Any) -> bool:
        """Whether somebody calls who has a key, or needs none."""
        if self._rule == PUBLIC or self._site.keyring.is_open:
            return True
        try:
            self._site.keyring.identify(_key_of(metadata))
        except Unauthenticated:
            return False
        return True

    def _unary(self, answer: Unary) -> Any:
        async def called(data: bytes, context: Context) -> bytes:
            began, caller, call = time.perf_counter(), ANYONE, None
            try:
                caller = self._admit(context)
                self._require_role(caller)
                call = Call(self._site, caller, context, self._read(data))
                async with asyncio.timeout(self._longest):
                    written = (await answer(call)).SerializeToString()
            except asyncio.CancelledError:
                if self._is_audited and not (call is not None and call.is_audited):
                    self._note(context, caller, LEFT)
                raise
            except Exception as error:
                fault = self._fault(error)
                is_forbidden = isinstance(error, Forbidden)
                if (self._is_audited or is_forbidden) and not (call and call.is_audited):
                    self._note(context, caller, fault.sentence)
            else:
                self._log(grpc.StatusCode.OK, began, caller)
                return written
            # Outside of the clause above, for it raises, and this is no fault of the request's.
            await self._refuse(fault, context, caller, began)

        return called

    def _stream(self, answer: Streaming, read: Callable[[Any], Any]) -> Any:
        async def called(given: Any, context: Context) -> None:
            began, caller = time.perf_counter(), ANYONE
            try:
                caller = self._admit(context)
                self._require_role(caller)
                call = Call(self._site, caller, context, read(given))
                await self._send_all(answer(call), context, caller)
            except aio.BaseError:
                return self._log(grpc.StatusCode.CANCELLED, began, caller)
            except Exception as error:
                fault = self._fault(error)
                if self._is_audited or isinstance(error, Forbidden):
                    self._note(context, caller, fault.sentence)
            else:
                return self._log(grpc.StatusCode.OK, began, caller)
            await self._refuse(fault, context, caller, began)

        return called

    async def _send_all(
        self, answer: AsyncIterator[Message], context: Context, caller: Caller
    ) -> None:
        """Send what there is, for as long as the caller may have it."""

        async def send() -> None:
            # Closed where it was when the client has left: it learns of it there.
            async with aclosing(cast(Any, answer)) as messages:
                async for message in messages:
                    await context.write(message.SerializeToString())

        if self._rule == PUBLIC:
            return await self._send_to_anybody(send)
        with self._site.keyring.held(caller) as over:
            await until([over], send())
            if over.done() and not over.cancelled():
                raise over_for(caller)

    async def _send_to_anybody(self, send: Callable[[], Awaitable[None]]) -> None:
        if self._strangers >= MOST_STRANGERS:
            raise TooMany("The server has all the streams that it gives without a key; try later.")
        self._strangers += 1
        try:
            await send()
        finally:
            self._strangers -= 1

    def _admit(self, context: Context) -> Caller:
        """Who calls; whether they may is another question, so that a refusal can name them."""
        if self._rule == PUBLIC:
            return ANYONE
        metadata = context.invocation_metadata() or ()
        if self._site.settings.tracing:
            join(metadata)
        return self._site.admit(_key_of(metadata))

    def _require_role(self, caller: Caller) -> None:
        if isinstance(self._rule, Role):
            caller.require(self._rule)
        elif self._rule not in (ANY, PUBLIC):
            raise Forbidden(f"{self._method.full_name} has no rule that would let anybody call it.")

    def _read(self, data: bytes) -> Message:
        try:
            request = self._kind.FromString(data)
        except DecodeError:
            raise Malformed(
                f"The request cannot be read as a {self._kind.DESCRIPTOR.full_name}."
            ) from None
        if not self._is_ours:
            return request
        request.DiscardUnknownFields()
        # Nothing can be missing from what is as long as it was. It may be shorter for another
        # reason, as there is more than one way to write a number.
        if request.ByteSize() != len(data):
            _refuse_unknown(self._kind.FromString(data))
        return request

    async def _read_each(self, parts: AsyncIterator[bytes]) -> AsyncIterator[Message]:
        """What a client says until it is done, or the server is to stop."""
        ends = asyncio.ensure_future(self._site.draining.wait())
        try:
            while (data := await _unless(ends, parts)) is not None:
                yield self._read(data)
        finally:
            ends.cancel()

    def _fault(self, error: Exception) -> Fault:
        if type(error) is TimeoutError:
            error = Late(f"The request was not carried out within {self._longest:g} s.")
        fault = fault_of(error)
        if fault is UNEXPECTED:
            log.error("%s failed", self._method.full_name, exc_info=error)
        return fault

    async def _refuse(
        self, fault: Fault, context: Context, caller: Caller, began: float
    ) -> NoReturn:
        code = CODES[fault.code]
        self._log(code, began, caller)
        about = [(ERROR, fault.name)]
        if fault.after is not None:
            about.append((RETRY_AFTER, f"{fault.after:g}"))
        await context.abort(code, fault.sentence, tuple(about))

    def _note(self, context: Context, caller: Caller, outcome: str) -> None:
        address, action = address_of(context), self._method.name.lower()
        self._site.audit.note(caller, address, action, {}, outcome)

    def _log(self, code: grpc.StatusCode, began: float, caller: Caller) -> None:
        took = (time.perf_counter() - began) * 1000
        self._access.note((self._method.full_name, code.name, took, caller.name))


async def _unless(ends: asyncio.Future[Any], parts: AsyncIterator[bytes]) -> bytes | None:
    """The next part, unless the last was or something ends before."""

    async def part() -> bytes | None:
        return await anext(parts, None)

    coming = asyncio.ensure_future(part())
    try:
        await asyncio.wait((coming, ends), return_when=asyncio.FIRST_COMPLETED)
        return coming.result() if coming.done() else None
    finally:
        coming.cancel()


def _key_of(metadata: Any) -> str | None:
    api_key, bearer = None, None
    for name, value in metadata or ():
        if name == "x-api-key":
            api_key = str(value)
        elif name == "authorization":
            bearer = str(value)
    return key_in(api_key, bearer)


def _refuse_unknown(request: Message) -> None:
    """Raise for fields that this server does not know: what they ask for would not be done."""
    size = request.ByteSize()
    request.DiscardUnknownFields()
    if request.ByteSize() != size:
        raise Malformed(
            f"The {request.DESCRIPTOR.full_name} has fields that this server does not know; leave "
            "them out, or upgrade the server."
        )
