"""While a server hangs, callers learn it after the patience that the URL gives, however many."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.app.engines import SERVERS, url_of
from tests.servers.server import Server
from windlass import Windlass
from windlass.errors import StoreUnavailable

CALLERS = 300
PATIENCE, TIMEOUT = 1, 2
LONGEST = 30.0
"""If a batch were sent again one by one, five at a time, the last would learn it after minutes."""


@pytest.fixture(params=["redis", "postgres", "mariadb"])
def frozen(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, Server]]:
    server = request.getfixturevalue(SERVERS[request.param])
    url = url_of(request, tmp_path)
    yield f"{url}{'&' if '?' in url else '?'}patience={PATIENCE}&timeout={TIMEOUT}", server
    tell(server, signal.SIGCONT)


def tell(server: Server, number: signal.Signals) -> None:
    """Tell a server, and the processes that it has for its connections."""
    children = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text()
    for pid in (server.pid, *map(int, children.split())):
        with suppress(ProcessLookupError):
            os.kill(pid, number)


@pytest.fixture
async def mute() -> AsyncIterator[None]:
    """Have nobody told of what asyncpg leaves behind if it is interrupted while it connects.

    Callers are given up at a moment of their own, which may be that one.
    """
    loop = asyncio.get_running_loop()
    before = loop.get_exception_handler()
    assert before is not None

    def told(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if str(context.get("exception")) != "unexpected connection_lost() call":
            before(loop, context)

    loop.set_exception_handler(told)
    yield
    loop.set_exception_handler(before)


@pytest.mark.usefixtures("mute")
async def test_all_callers_learn_of_a_server_that_hangs_in_time(
    frozen: tuple[str, Server],
) -> None:
    url, server = frozen
    app = Windlass(url)

    @app.task
    def add(a: int) -> None: ...

    await add.aenqueue(1)
    tell(server, signal.SIGSTOP)
    began = asyncio.get_running_loop().time()
    early = [add.aenqueue(n) for n in range(CALLERS // 2)]
    await asyncio.sleep(0)
    late = [add.aenqueue(n) for n in range(CALLERS // 2)]
    answers = await asyncio.gather(*early, *late, return_exceptions=True)
    took = asyncio.get_running_loop().time() - began
    assert {type(answer) for answer in answers} == {StoreUnavailable}
    assert took < LONGEST
    tell(server, signal.SIGCONT)
    assert await (await add.aenqueue(1)).aget()
    await app.aclose()
