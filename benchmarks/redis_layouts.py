"""Ways to lay jobs out in Redis: bytes for one that waits, and the server's time for its life.

Each does the least that a queue needs (a record by id, a line, a lease, a fence), in batches of a
hundred; no priorities, no counts, no wake-ups. What is compared is the layout alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from redis import Redis
from redis.commands.core import Script

from windlass.core.ids import new_id
from windlass.core.model import Spec, encode_spec
from windlass.stores.redis.record import pack_id

from .redis_floor import PAYLOAD
from .redis_server import clear, memory, processor, serving
from .table import Line

NUMBER = 50_000
BATCH = 100
KEYS = ("jobs", "counters", "line", "leases")
RECORD = encode_spec(Spec("nothing", PAYLOAD))

LAYOUTS = (
    ("sorted set, ids as text", "set", False),
    ("sorted set, ids as 16 bytes", "set", True),
    ("list, ids as 16 bytes", "list", True),
)


def lines() -> Iterator[Line]:
    with serving() as url:
        for name, line, packed in LAYOUTS:
            clear(url)
            yield Line(f"layout: {name}", *_measured(url, line, packed))


def _measured(url: str, line: str, packed: bool) -> tuple[float, str, str]:
    ids = [pack_id(new_id()) if packed else new_id().encode() for _ in range(NUMBER)]
    with Redis.from_url(url) as redis:
        insert, claim, finish = (_script(redis, name) for name in ("insert", "claim", "finish"))
        before, began = memory(url), processor(redis)
        for start in range(0, NUMBER, BATCH):
            words = [word for id in ids[start : start + BATCH] for word in (id, RECORD)]
            insert(KEYS, [line, *words])
        filled = processor(redis)
        size = (memory(url) - before) / NUMBER
        while (claimed := claim(KEYS, [line, BATCH, 1]))[0]:
            finish(KEYS, [claimed[0], *claimed[1]])
        ended = processor(redis)
    costs = [1e6 * seconds / NUMBER for seconds in (filled - began, ended - filled)]
    detail = f"Redis {costs[0]:.1f} µs to insert, {costs[1]:.1f} µs to claim and finish"
    return size, "bytes", detail


def _script(redis: Redis, name: str) -> Script:
    folder = Path(__file__).with_name("layouts")
    return redis.register_script((folder / f"{name}.lua").read_text())
