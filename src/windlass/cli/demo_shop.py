"""A small shop: the jobs of `windlass demo`, and an example of how tasks are written.

The same orders go wrong in every run, so that it is known beforehand what must come out;
`EXPECTED` says it, and the demo compares.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from typing import Final, NamedTuple

from windlass import Context, Fatal, Retry, Windlass

app = Windlass("sqlite:///shop.db")  # which the demo puts into a temporary folder

ORDERS: Final = 150


class Tally(NamedTuple):
    """What the jobs of one task came to."""

    jobs: int = 0
    completed: int = 0
    dead: int = 0
    retries: int = 0

    def __add__(self, other: object) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        return Tally(*(mine + its for mine, its in zip(self, other, strict=True)))


@app.task
async def count_view(page: str) -> int:
    """Quick and async: thousands of these are nothing."""
    return len(page)


@app.task(context=True, priority="high", backoff=[0.3, 0.6])
def charge_card(ctx: Context, order: int) -> str:
    """Blocking, so it runs in a thread. Every tenth card works on the third attempt only."""
    time.sleep(0.01)
    if order % 10 == 0 and ctx.attempt < 3:
        raise ConnectionError(f"the bank did not answer for order {order}")
    return f"charged order {order}"


@app.task(queue="warehouse", timeout=20)
async def pack_parcel(order: int) -> str:
    """Slow, and followed by another job: handlers enqueue like everyone else."""
    await asyncio.sleep(0.4)
    await send_receipt.aenqueue(order)
    return f"parcel-{order}"


@app.task(context=True, priority="low", backoff=[0.3, 0.6])
async def send_receipt(ctx: Context, order: int) -> None:
    """Asks for another attempt itself, with the wait that the other side named."""
    await asyncio.sleep(0.02)
    if order % 25 == 0 and ctx.attempt == 1:
        raise Retry("the mail server is busy", after=0.5)


@app.task
def resize_photo(name: str, width: int = 640) -> str:
    """Computes something for a few milliseconds."""
    return hashlib.sha256(name.encode() * width * 50).hexdigest()


@app.task
async def remind_customer(order: int) -> str:
    """Enqueued now, to run later."""
    return f"order {order}: how was it?"


@app.task(max_retries=2, backoff=[0.3, 0.6])
async def ask_supplier(part: str) -> None:
    """Never works: after its retries it is dead, and stays to be looked at."""
    raise TimeoutError(f"no answer about {part}")


@app.task
def ship_to(place: str) -> None:
    """Knows at once that trying again is no use."""
    raise Fatal(f"{place} is not on the map")


EXPECTED: Final = {
    "count_view": Tally(2_000, 2_000),
    "charge_card": Tally(ORDERS, ORDERS, retries=2 * ORDERS // 10),
    "pack_parcel": Tally(ORDERS, ORDERS),
    "send_receipt": Tally(ORDERS, ORDERS, retries=ORDERS // 25),
    "resize_photo": Tally(200, 200),
    "remind_customer": Tally(20, 20),
    "ask_supplier": Tally(5, dead=5, retries=10),
    "ship_to": Tally(5, dead=5),
}


def open_for_business() -> None:
    """Enqueue a day's work, from blocking code; receipts follow from the parcels."""
    app.enqueue_many(count_view.call(f"/product/{number}") for number in range(2_000))
    app.enqueue_many(charge_card.call(order) for order in range(1, ORDERS + 1))
    app.enqueue_many(pack_parcel.call(order) for order in range(1, ORDERS + 1))
    app.enqueue_many(resize_photo.call(f"{number}.jpg", width=320) for number in range(200))
    for order in range(20):
        remind_customer.using(delay=1 + order / 5).enqueue(order)
    for part in ("anchor", "block", "cleat", "drum", "eye"):
        ask_supplier.enqueue(part)
        ship_to.using(priority=10).enqueue(f"the land of {part}s")
