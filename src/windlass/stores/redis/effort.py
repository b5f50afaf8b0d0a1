"""A call that did not get its answer at the first sending, and all that is done about it."""

from __future__ import annotations

import random
from time import monotonic
from typing import Any, Final, NamedTuple

from hiredis import ReplyError

from .fault import PASSING, Lost, code, refusal, target, unavailable
from .io import Io, Link, Word, pack
from .limits import is_over
from .proof import Proof
from .route import Route
from .scripts import Script
from .url import Address

FIRST_PAUSE: Final = 0.02
LONGEST_PAUSE: Final = 0.25
SPREAD: Final = 0.05

_MOST_DETOURS: Final = 8
"""How many MOVED, ASK and NOSCRIPT one call follows at once; then it pauses before each."""

_ASKING: Final = pack(("ASKING",))


class Call(NamedTuple):
    """A plain command, or a script's with its flag between `before` and `after`."""

    slot: int | None
    before: tuple[Word, ...]
    script: Script | None = None
    after: tuple[Word, ...] = ()
    again: bool = False
    """whether it may have been carried out before its first sending"""

    @property
    def first_key(self) -> Word:
        return self.before[1 if self.script is None else 3]

    def packed(self, repeated: bool) -> bytes:
        if self.script is None:
            return pack(self.before)
        return pack((*self.before, b"1" if repeated else b"0", *self.after))


class Effort:
    """Sends one call again and again until it is answered, refused, or has taken too long."""

    def __init__(
        self,
        io: Io,
        route: Route,
        call: Call,
        patience: float,
        started: float,
        proof: Proof | None = None,
    ) -> None:
        self._io = io
        self._route = route
        self._call = call
        self._patience = patience
        self._started = started
        self._proof = proof
        self._repeated = call.again
        self._load = False
        self._asked: Address | None = None
        self._detours = 0
        self._pause = FIRST_PAUSE

    async def succeed(self, link: Link | None, fault: Exception | None) -> Any:
        """The answer; `fault` is what came of a first sending over `link`, if there was one."""
        # What broke a connection that served until now may be over already.
        at_once = fault is not None
        while True:
            if fault is not None:
                await self._consider(link, fault, at_once)
                at_once = False
            link, reply = await self._try()
            if not isinstance(reply, Exception):
                return reply
            fault = reply

    async def _consider(self, link: Link | None, fault: Exception, at_once: bool) -> None:
        """Choose the way of the next sending; raise if there is to be none."""
        kind = code(fault)
        # An error reply says that this sending was not carried out, but nothing of earlier ones.
        self._repeated = self._repeated or (isinstance(fault, Lost) and fault.sent)
        if link is not None and self._detour(kind, fault, link):
            self._detours += 1
            if self._detours <= _MOST_DETOURS:
                return
        elif kind in PASSING:
            self._load, self._asked = False, None
            self._route.doubt(link, kind)
            if at_once and kind == "LOST":
                # Many lose their server at one moment, and are not to come back at one.
                await self._io.sleep(random.uniform(0.0, SPREAD))
                return
        else:
            raise refusal(fault, link.address if link is not None else "its address")
        if monotonic() - self._started >= self._patience or is_over():
            where = fault.where if isinstance(fault, Lost) else link.address if link else ""
            raise unavailable(fault, where, self._patience)
        await self._io.sleep(self._pause * random.uniform(0.5, 1.0))
        self._pause = min(self._pause * 1.6, LONGEST_PAUSE)

    def _detour(self, kind: str, fault: Exception, link: Link) -> bool:
        """Whether the reply itself says what to do; if so, it is noted."""
        if kind == "NOSCRIPT" and self._call.script is not None:
            self._load = True
            return True
        if kind == "ASK":
            self._load, self._asked = False, target(fault, link.address)
            return True
        if kind == "MOVED" and self._call.slot is not None:
            self._load, self._asked = False, None
            self._route.moved(self._call.slot, target(fault, link.address))
            return True
        return False

    async def _try(self) -> tuple[Link | None, Any]:
        try:
            if self._asked is not None:
                link = await self._route.link_at(self._asked)
            else:
                link = await self._route.link(self._call.slot)
        except Lost as lost:
            return None, lost
        commands = [self._call.packed(self._repeated)]
        if self._asked is not None:
            commands.insert(0, _ASKING)  # holds for the next command only
        if self._load and self._call.script is not None:
            commands.insert(0, pack(("SCRIPT", "LOAD", self._call.script.source)))
        if self._proof is not None:
            return link, await self._proved(link, commands, self._proof)
        if len(commands) == 1:
            return link, await link.send(commands[0])
        return link, _telling(await link.send_all(commands))

    async def _proved(self, link: Link, commands: list[bytes], proof: Proof) -> Any:
        """The answer once replicas have all that it rests on."""
        write, wait = proof.commands(self._call.first_key)
        asking = [_ASKING] if self._asked is not None else []
        replies = await link.send_all([*commands, *asking, write, wait])
        reply = _telling(replies[: len(commands)])
        if isinstance(reply, Exception):
            return reply
        return proof.fault(link.address, *replies[-2:]) or reply


def _telling(replies: list[Any]) -> Any:
    """The last reply, or what says more: why a script that is missing could not be loaded."""
    *earlier, reply = replies
    if isinstance(reply, ReplyError):
        return next((each for each in earlier if isinstance(each, ReplyError)), reply)
    return reply
