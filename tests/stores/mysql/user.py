"""Transactions of a user's, on a connection that the store knows nothing of."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncmy


@asynccontextmanager
async def begun(url: str, **options: Any) -> AsyncIterator[Any]:
    """A connection in a transaction, which is given up at the end unless it was committed."""
    front = url.partition("?")[0]
    connection = await asyncmy.connect(
        host="127.0.0.1",
        port=int(front.split(":")[2].split("/")[0]),
        user="windlass",
        database=front.rpartition("/")[2],
        **options,
    )
    try:
        await connection.begin()
        yield connection
    finally:
        connection.close()
