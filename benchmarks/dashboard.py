"""How soon the dashboard's views have what they show, with a million jobs in the store.

And what a dashboard that is left open costs that store.
"""

from __future__ import annotations

import gzip
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from statistics import median
from urllib.parse import quote, urljoin

from redis import Redis

from windlass.core.stats import COARSE, FINE, KEPT
from windlass.server.panorama import LASTS

from . import postgres_server, redis_server
from .dashboard_fill import QUEUES, TALKATIVE, WORKFLOW, fill
from .process import isolated
from .server_process import Served, key_for, windlass_server
from .startup import used
from .table import Goal, Line

MANY = 1_000_000
WARM, TIMED = 2, 9
WATCHED = 30.0
SOON = Goal("at most", 300)
CHEAP = Goal("at most", 1)
FIRST_PAINT = Goal("at most", 150)

JOBS = "/api/v1/jobs"
VIEWS = {
    "overview": "/api/v1/overview",
    "queues": "/api/v1/queues",
    "one queue": f"/api/v1/queues/{QUEUES[3]}",
    "limits of a queue": f"/api/v1/limits?queue={QUEUES[0]}",
    "stats of an hour": "/api/v1/stats?span=hour",
    "stats of all queues": "/api/v1/stats/queues",
    "stats of a queue and a day": f"/api/v1/stats?span=day&queue={QUEUES[3]}",
    "workers": "/api/v1/workers",
    "cron": "/api/v1/cron",
    "tasks": "/api/v1/tasks",
    "jobs": JOBS,
    "pending jobs of a queue": f"{JOBS}?state=pending&queue={QUEUES[19]}",
    "completed jobs": f"{JOBS}?state=completed",
    "dead jobs of a task": f"{JOBS}?state=dead&task=shop.task_05",
    "active and waiting jobs of a queue": (
        f"{JOBS}?state=active&state=pending&state=retry&state=scheduled&queue={QUEUES[7]}&limit=50"
    ),
    "jobs of a task that has none": f"{JOBS}?task=shop.task_99",
    "jobs by an argument that few have": f"{JOBS}?argument=email%3D77%40example.com",
    "jobs by an argument that none has": f"{JOBS}?state=completed&argument=nobody",
    "dead jobs by their error": f"{JOBS}?state=dead&error=ccc",
    "jobs by a label": f"{JOBS}?label=customer%3D4990",
    "dead jobs of the last minute": f"{JOBS}?state=dead&since={{moment}}",
    "a job": f"{JOBS}/job-0090090",
    "why a job waits": f"{JOBS}/job-0090037/why",
    "attempts with a thousand lines": f"{JOBS}/{TALKATIVE}/attempts",
    "dead groups": "/api/v1/dead/groups",
    "workflows": "/api/v1/workflows",
    "a workflow of 200 jobs": f"/api/v1/workflows/{WORKFLOW}",
    "me": "/api/v1/me",
}
POLLED = {"overview": 10.0, "stats of an hour": 15.0, "stats of all queues": 60.0}
"""What the first view asks for again, and how often; live events come besides."""


def lines() -> Iterator[Line]:
    with redis_server.serving() as url:
        yield from measured("redis", url, MANY)
    with postgres_server.serving() as url:
        yield from measured("postgres", url, MANY)


def measured(store: str, url: str, number: int) -> Iterator[Line]:
    began = time.monotonic()
    isolated(fill, url, number)
    if store == "redis":
        _spread_on_redis(url)
    else:
        _spread_on_postgres(url)
    filled = time.monotonic() - began
    key = key_for(url)
    with windlass_server(url, "--no-upkeep") as served:
        client = Client(served, key)
        for name, path in VIEWS.items():
            yield client.line(f"{store}: {name}", path)
        yield client.line(f"{store}: overview, looked at anew", VIEWS["overview"], LASTS)
        yield _share(store, served, key, _clock_of(store, url), filled)
        if store == "redis":
            yield _first_paint(served)


class Client:
    """One who looks, on a connection of its own."""

    def __init__(self, served: Served, key: str) -> None:
        self._connection = HTTPConnection("127.0.0.1", served.port, timeout=60)
        self._headers = {"X-API-Key": key}

    def get(self, path: str) -> tuple[float, int]:
        """Milliseconds until the whole answer is there, and its bytes."""
        began = time.perf_counter()
        self._connection.request("GET", path, headers=self._headers)
        answer = self._connection.getresponse()
        body = answer.read()
        took = (time.perf_counter() - began) * 1000
        if answer.status != 200:
            raise RuntimeError(f"{path} was answered with {answer.status}: {body!r}")
        return took, len(body)

    def line(self, name: str, path: str, pause: float = 0.0) -> Line:
        """What a view takes, each time after a pause: a look may serve others for a moment."""
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 60))
        asked = path.replace("{moment}", quote(now))
        for _ in range(WARM):
            self.get(asked)
        rounds = []
        for _ in range(TIMED):
            time.sleep(pause)
            rounds.append(self.get(asked))
        times = [took for took, _ in rounds]
        size = rounds[0][1]
        detail = f"slowest {max(times):.1f} ms, {size / 1000:.1f} kB"
        return Line(name, median(times), "ms", detail, SOON)


def _share(store: str, served: Served, key: str, clock: Callable[[], float], filled: float) -> Line:
    """The part of a core that the store uses more while somebody looks at the first view."""
    before = _busy(clock)
    with _open_dashboard(served, key):
        watched = _busy(clock)
    return Line(
        f"{store}: an open dashboard's share of the store's time",
        100 * max(watched - before, 0.0),
        "%",
        f"{100 * watched:.2f} % of a core with it, {100 * before:.2f} % without; filled in "
        f"{filled:.0f} s",
        CHEAP,
    )


def _busy(clock: Callable[[], float]) -> float:
    began = clock()
    time.sleep(WATCHED)
    return (clock() - began) / WATCHED


@contextmanager
def _open_dashboard(served: Served, key: str) -> Iterator[None]:
    """Follows the events, and asks again for what the first view does."""
    events = HTTPConnection("127.0.0.1", served.port, timeout=60)
    events.request("GET", "/api/v1/events", headers={"X-API-Key": key})
    answer = events.getresponse()
    if answer.status != 200:
        raise RuntimeError(f"The events are answered with {answer.status}.")
    closed = threading.Event()
    polls = [
        threading.Thread(target=_poll, args=(Client(served, key), VIEWS[name], every, closed))
        for name, every in POLLED.items()
    ]
    for poll in polls:
        poll.start()
    try:
        yield
    finally:
        closed.set()
        for poll in polls:
            poll.join()
        events.close()


def _poll(client: Client, path: str, every: float, closed: threading.Event) -> None:
    client.get(path)
    while not closed.wait(every):
        client.get(path)


def _clock_of(store: str, url: str) -> Callable[[], float]:
    """What tells how many seconds of processor time the store has used."""
    if store == "redis":
        redis = Redis.from_url(url)
        return lambda: redis_server.processor(redis)
    master = postgres_server.row(url, "SELECT pg_backend_pid() AS pid")["pid"]
    parent = _parent(master)
    return lambda: used(parent) + sum(map(used, _children(parent)))


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[1])


def _children(pid: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _first_paint(served: Served) -> Line:
    """What a browser gets before it shows the first view: the page, and what that asks for."""
    connection = HTTPConnection("127.0.0.1", served.port)
    sent, left, seen = 0, ["/"], set[str]()
    while left:
        path = left.pop()
        seen.add(path)
        connection.request("GET", path, headers={"Accept-Encoding": "gzip"})
        answer = connection.getresponse()
        body = answer.read()
        sent += len(body)
        text = gzip.decompress(body) if answer.getheader("Content-Encoding") else body
        left += {urljoin(path, each) for each in _linked(text.decode())} - {*seen, *left}
    return Line("first paint", sent / 1000, "kB", f"{len(seen)} files, compressed", FIRST_PAINT)


def _linked(text: str) -> list[str]:
    """What a page or a module cannot do without, and the first view."""
    needed = re.findall(r'(?:src|href)="(assets/[^"]+)"', text)
    needed += re.findall(r'^(?:import|export) (?:[^"]* from )?"(\.[^"]+)"', text, re.MULTILINE)
    return needed + re.findall(r'"(\./views/overview\.js)"', text)


def _spread_on_redis(url: str) -> None:
    """Have in all buckets what was counted in the one of now."""
    with Redis.from_url(url) as redis:
        for step in (FINE, COARSE):
            found = [key.decode() for key in redis.scan_iter(f"*stats:{step}:*", count=10_000)]
            pipeline = redis.pipeline(transaction=False)
            for key in found:
                before, _, rest = key.partition(f"stats:{step}:")
                at, _, queue = rest.partition(":")
                for number in range(1, KEPT[step] // step):
                    past = f"{before}stats:{step}:{int(at) - number * step}:{queue}"
                    pipeline.copy(key, past)
            pipeline.execute()


def _spread_on_postgres(url: str) -> None:
    for step in (FINE, COARSE):
        postgres_server.tell(
            url,
            f"""
            INSERT INTO windlass_stats (at, until, number, step, queue, name)
            SELECT at - n * step, until, number, step, queue, name
            FROM windlass_stats, generate_series(1, {KEPT[step] // step - 1}) AS n
            WHERE step = {step}
            """,
        )
    postgres_server.tell(url, "VACUUM ANALYZE")
