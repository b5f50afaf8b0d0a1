"""The app that the dashboard is tried on."""

import asyncio
import logging
from typing import Any, Literal

from windlass import Context, Fatal, Limit, Windlass

log = logging.getLogger("shop")


class Shop(Windlass):
    """Tasks of every kind; those that wait go on once `opened` is set."""

    def __init__(self, url: str, **options: Any) -> None:
        super().__init__(url, **options)
        self.opened = asyncio.Event()
        self.task(queue="mail")(greet)
        self.task(queue="mail", max_retries=0)(post)
        self.task(queue="stock")(count)
        self.task(queue="stock")(add_up)
        self.task(queue="stock", limit=Limit(concurrency=1, name="press"))(label)

        @self.task(queue="slow", context=True)
        async def bake(context: Context, loaves: int = 3) -> str:
            context.progress(40, "the dough rises")
            log.info("%d loaves are in the oven", loaves)
            await self.opened.wait()
            return "bread"

        @self.task(queue="slow", context=True)
        async def refund(context: Context, order: int) -> str:
            return f"refunded by {await context.await_for('approved')}"

        @self.task(queue="slow")
        async def hold(shelf: str) -> str:
            await self.opened.wait()
            return shelf

        @self.cron("0 4 * * *", timezone="Europe/Berlin")
        async def close_up() -> None: ...


async def greet(
    name: str, times: int = 1, loud: bool = False, tone: Literal["kind", "curt"] = "kind"
) -> str:
    """Greet somebody."""
    return f"Hello, {name}!" * times


async def post(address: str, note: dict[str, Any] | None = None) -> str:
    log.warning("%s is looked up", address)
    raise Fatal(f"{address} is no address")


async def count(shelf: str) -> int:
    return len(shelf)


async def add_up(numbers: list[int]) -> int:
    return sum(numbers)


async def label(box: int) -> int:
    return box
