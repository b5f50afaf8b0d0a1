"""What dependents cost on Redis: to those who use them, and to a job that does not.

The second is a comparison with another state of the source, which `WINDLASS_BEFORE` names: the
folder of a checkout. Both run in turns, on one server.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec
import uvloop

from windlass import Windlass
from windlass.core.ids import new_id
from windlass.core.model import NewJob

from .jobs import nothing
from .process import isolated
from .redis_cost import Cost, Rounds
from .redis_drain import drain_from, fill
from .redis_server import clear, note_slow, serving, slowest
from .table import Goal, Line, ratio

NUMBER: Final = 10_000
PLAIN: Final = 30_000
ROUNDS: Final = 7
BEFORE: Final = os.environ.get("WINDLASS_BEFORE", "")
ROOT: Final = Path(__file__).parent.parent

replace = msgspec.structs.replace


def lines() -> Iterator[Line]:
    with serving() as url:
        fans, plain = Rounds(lambda: fan(url)), Rounds(lambda: drained(url, NUMBER))
        line = ratio(
            "redis: fan-out and fan-in of 10,000",
            fans,
            plain,
            ("fan", "plain drain"),
            Goal("at least", 0.5),
        )
        a, b = fans.cost(), plain.cost()
        python = f"Python {a.python:.1f} and {b.python:.1f} µs"
        redis = f"Redis {a.redis:.1f} and {b.redis:.1f} µs"
        yield line._replace(detail=f"{line.detail}; {python}, {redis} for each")
        took, name = min(_slowest(url) for _ in range(3))
        yield Line("redis: longest script of a fan", took, "ms", name, Goal("at most", 25))
        if BEFORE:
            yield from _against_before(url)


def _against_before(url: str) -> Iterator[Line]:
    """What a plain job costs now, against what it cost in another state of the source."""
    now, before = Rounds(lambda: plain_of(url, ROOT)), Rounds(lambda: plain_of(url, Path(BEFORE)))
    line = ratio(
        "redis: drain of plain jobs, against before",
        now,
        before,
        ("now", "before"),
        Goal("at least", 0.95),
        ROUNDS,
    )
    a, b = now.cost(), before.cost()
    yield line
    yield Line(
        "redis: Redis' processor time for a plain job, against before",
        a.redis / b.redis,
        "×",
        f"now {a.redis:.2f} µs, before {b.redis:.2f} µs",
        Goal("at most", 1.05),
    )


def _slowest(url: str) -> tuple[float, str]:
    """The best of several counts: what takes long because of the neighbours does not each time."""
    note_slow(url)
    fan(url)
    return slowest(url)


def fan(url: str) -> Cost:
    """One job, so many that depend on it, and one that depends on all of these."""
    clear(url)
    isolated(fill_fan, url)
    return isolated(drain_from, url, NUMBER + 2)


def drained(url: str, number: int) -> Cost:
    clear(url)
    isolated(fill, url, number)
    return isolated(drain_from, url, number)


def fill_fan(url: str) -> None:
    uvloop.run(_fill_fan(url))


async def _fill_fan(url: str) -> None:
    app = Windlass(url)
    task = app.task(nothing)
    model = task.call(user_id=123, email="a@example.com").job

    def made(*parents: str) -> NewJob:
        return NewJob(new_id(), replace(model.spec, parents=parents), fresh=True)

    store = await app.client.store()
    first = made()
    middle = [made(first.id) for _ in range(NUMBER)]
    await store.insert([first, *middle, made(*(job.id for job in middle))])
    await app.aclose()


def plain_of(url: str, tree: Path) -> Cost:
    """Enqueue and drain plain jobs, by the source below a folder."""
    clear(url)
    path = str(tree / "src")
    command = [sys.executable, "-m", __name__, url, str(PLAIN)]
    done = subprocess.run(
        command, check=True, capture_output=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": path}
    )
    return Cost(*map(float, done.stdout.split()))


def main(words: Sequence[str]) -> None:
    url, number = words[0], int(words[1])
    filled, done = fill(url, number), drain_from(url, number)
    print(done.rate, filled.python + done.python, filled.redis + done.redis)


if __name__ == "__main__":
    main(sys.argv[1:])
