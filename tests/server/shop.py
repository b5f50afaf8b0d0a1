"""The app that most tests serve."""

import asyncio
from typing import Any

from google.protobuf.wrappers_pb2 import StringValue

from windlass import Context, Fatal, Windlass


class Shop(Windlass):
    """Tasks of every kind; some of them wait until `opened` is set, and set `entered` before."""

    def __init__(self, url: str = "memory://", **options: Any) -> None:
        super().__init__(url, **options)
        self.entered = asyncio.Event()
        self.opened = asyncio.Event()
        self.task(queue="sums", priority=80, max_retries=1)(add)
        for function in (greet, refuse, measure, mirror, shout):
            self.task(function)

        @self.task
        async def gate() -> str:
            self.entered.set()
            await self.opened.wait()
            return "through"

        @self.task(context=True)
        async def climb(context: Context) -> str:
            context.progress(40, "the hard part is over")
            self.entered.set()
            await self.opened.wait()
            return "up"

        @self.task(context=True)
        async def listen(context: Context) -> str:
            return f"heard {await context.await_for('word')}"


async def add(a: int, b: int = 2) -> int:
    """Add two numbers."""
    return a + b


async def greet(name: str) -> str:
    return f"Hello, {name}!"


async def refuse(reason: str = "not today") -> None:
    raise Fatal(reason)


async def measure(data: bytes) -> int:
    return len(data)


async def mirror(data: bytes) -> bytes:
    return data[::-1]


async def shout(message: StringValue) -> StringValue:
    return StringValue(value=message.value.upper())
