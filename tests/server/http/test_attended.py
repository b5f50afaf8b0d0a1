"""An answer that is waited for while its client may leave."""

import asyncio
from typing import Any

import pytest

from windlass.server.caller import ANYONE
from windlass.server.http.call import Reply
from windlass.server.http.endpoint import _attended


async def test_what_comes_as_the_request_is_given_up_is_taken_back() -> None:
    """Or jobs that were claimed for it would be nobody's until their leases run out."""
    loop, back = asyncio.get_running_loop(), list[str]()
    answer: asyncio.Future[Any] = loop.create_future()
    over: asyncio.Future[None] = loop.create_future()

    async def receive() -> Any:
        await asyncio.Event().wait()

    asking = asyncio.ensure_future(_attended(answer, receive, over, ANYONE))
    await asyncio.sleep(0)
    answer.set_result(Reply(None, 200, unsent=lambda: back.append("back")))
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert back == ["back"]
