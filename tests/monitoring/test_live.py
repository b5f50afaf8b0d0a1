"""What is shipped for Prometheus and Grafana, with a plant that works and is then ill-treated."""

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.monitoring import shop
from tests.monitoring.files import Query, alerts, queries
from tests.monitoring.plant import KEY, LEASE, Plant, plant
from tests.servers import prometheus, redis
from tests.servers.prometheus import firing, query
from tests.servers.server import Server
from windlass.core.model import JobQuery
from windlass.scheduler.leader import ROLE
from windlass.sync import drive

PATIENCE = 60.0
OUTAGE_MS = 60_000
STRANGER = "stranger"
"""Who holds the leadership and does nothing with it."""


class Watch:
    """Prometheus, and the alerts of which it has told so far."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.fired: dict[str, dict[str, Any]] = {}

    def now(self) -> set[str]:
        found = firing(self.server)
        self.fired |= found
        return set(found)

    def value(self, expr: str) -> float:
        return sum(float(series["value"][1]) for series in query(self.server, expr))

    def await_alerts(self, *names: str) -> None:
        """Wait until each of them has fired, at once or one after the other."""
        ahead = set(names)

        def are_none_ahead() -> bool:
            ahead.difference_update(self.now())
            return not ahead

        self.until(are_none_ahead, "alerts")

    def until(self, condition: Callable[[], object], what: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline, f"in vain: {what}; fired: {[*self.fired]}"
            time.sleep(0.2)


@pytest.mark.timeout(300)
def test_every_query_has_data_and_every_alert_fires_when_it_should(tmp_path: Path) -> None:
    with (
        redis.serve() as store,
        plant(tmp_path, store) as site,
        # First, as it takes five seconds until it looks for anybody.
        prometheus.serve(site.files()) as server,
    ):
        watch = Watch(server)
        prepare(site, watch)
        lead(site, watch)
        with traffic(site):
            site.enqueue("forgotten")
            hesitate(site, watch)
            hang(site, watch)
        assert watch.fired.keys() == {alert["alert"] for alert in alerts()}
        assert not [alert for alert in watch.fired.values() if not is_well_worded(alert)]
        assert not [each for each in queries() if not has_data(server, each)]


def prepare(site: Plant, watch: Watch) -> None:
    """The server is back after an outage, in which a worker died with a job in its hands.

    But somebody else has the leadership.
    """
    now = drive(site.store.now())
    late = [replace(each, last=now - OUTAGE_MS) for each in shop.app.registry.schedules.values()]
    drive(site.store.put_schedules(late))
    drive(site.store.insert([shop.send.call(0).job]))
    assert drive(site.store.claim({"mail": 1}, 1, -2 * OUTAGE_MS, STRANGER))
    drive(site.store.elect(ROLE, STRANGER, round(PATIENCE * 1000)))
    site.key = site.run("keys", "create", "--role", "admin")
    (watch.server.folder / KEY).write_text(site.key)
    site.start_server()


def lead(site: Plant, watch: Watch) -> None:
    """Nobody leads, then the server; workers come, and all is well but the ticks of before."""
    watch.await_alerts("WindlassNoLeader", "WindlassStoreFault")
    drive(site.store.resign(ROLE, STRANGER))
    watch.until(lambda: watch.value("windlass_leader") == 1, "the server to lead")
    site.start_worker("quick", "mail")
    site.start_worker("slow", "slow")
    watch.until(lambda: watch.value("up") == 3, "everybody to be found")
    watch.await_alerts("WindlassCronLate")
    # The next audit is a minute away.
    known = {"WindlassCronLate", "WindlassStoreFault"}
    watch.until(lambda: watch.now() <= known, "all else to be well")


@contextmanager
def traffic(site: Plant) -> Iterator[None]:
    """Some of everything, a few times in a second, until the end."""
    ended = threading.Event()

    def bring() -> None:
        for number in count():
            for task in ("send", "pay", "pay", "print_one"):
                site.enqueue(task, number)
            if ended.wait(0.3):
                return

    thread = threading.Thread(target=bring)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def hesitate(site: Plant, watch: Watch) -> None:
    """A worker stands still, for most of its lease."""
    site.enqueue("hang")
    held = JobQuery(task="hang")
    # A listing looks at one state after the other, and may miss a job that is claimed meanwhile.
    watch.until(lambda: any(job.attempt for job in drive(site.store.find(held)).jobs), "it to run")
    while "WindlassLeasesLate" not in watch.now():
        site.freeze("slow")
        time.sleep(LEASE * 0.7)
        site.thaw("slow")
        time.sleep(LEASE / 2)


def hang(site: Plant, watch: Watch) -> None:
    """A worker stands still until its job is rescued, while others die or wait for nobody."""
    site.freeze("slow")
    names = ("TargetDown", "Errors", "DeadLetters", "NoWorker", "QueueOld")
    watch.await_alerts(*(f"Windlass{name}" for name in names))
    stall(site, watch)
    rescued = 'windlass_jobs_rescued_total{task="hang"}'
    watch.until(lambda: watch.value(rescued) > 0, "it to be rescued")
    site.thaw("slow")


def stall(site: Plant, watch: Watch) -> None:
    """The store answers slowly."""
    while "WindlassStoreSlow" not in watch.now():
        site.redis.freeze()
        time.sleep(0.8)
        site.redis.thaw()
        time.sleep(0.1)


def is_well_worded(alert: dict[str, Any]) -> bool:
    """Whether its texts could be made: otherwise they have <no value> or <error …> in them."""
    return not any("<" in text for text in alert["annotations"].values())


def has_data(server: Server, asked: Query) -> bool:
    """Whether a query of a dashboard finds a number, for all queues and for one."""
    found = [
        query(server, expr)
        for queue in (".*", "mail")
        if (expr := with_variables(asked.expr, queue=queue, task=".*"))
    ]
    return any(not math.isnan(float(series["value"][1])) for series in found[0])


def with_variables(expr: str, **given: str) -> str:
    """An expression as Grafana sends it."""
    for name, value in {"__rate_interval": "1m", "__range": "5m", **given}.items():
        expr = expr.replace(f"${name}", value)
    assert "$" not in expr
    return expr
