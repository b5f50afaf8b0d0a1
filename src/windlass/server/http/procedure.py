"""Single methods of the store contract, for programs that use this server as their store."""

from __future__ import annotations

from ..procedures import perform
from .body import MSGPACK
from .call import Binary, Call


async def carry_out(call: Call[None, bytes]) -> Binary:
    """Carry out a method of the store contract; arguments and answer are MessagePack."""
    name = call.path["procedure"]
    answer = await perform(call.site, call.caller, name, call.body, address=call.address)
    return Binary(answer, MSGPACK.decode())
