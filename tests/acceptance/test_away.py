"""`windlass worker` while its server is away: what it says, and how it stops."""

import re
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.acceptance.conftest import Fresh
from tests.acceptance.process import Site, until
from tests.acceptance.supervised import Ship, stop
from windlass import State

SERVERS = [
    ("redis_server", "redis_proxy"),
    ("postgres_server", "postgres_proxy"),
    ("mariadb_server", "mariadb_proxy"),
]
PROBED = "from windlass.worker import presence; presence.BEAT = 0.2"
GENEROUS = 10.0
"""Seconds; without a bound it takes twice as long and more."""


@pytest.fixture(params=SERVERS, ids=["redis", "postgres", "mariadb"])
def bad(request: pytest.FixtureRequest, site: Site, fresh: Fresh) -> tuple[Ship, Any]:
    """A folder whose worker reaches its server through a bad network."""
    server, proxy = request.param
    network = request.getfixturevalue(proxy)
    url = network.through(fresh(server))
    return Ship(site, url), network


def refuse(network: Any) -> None:
    network.refuse()
    network.cut()


@pytest.mark.parametrize("harm", [refuse, lambda network: network.silence()], ids=["down", "hangs"])
def test_an_idle_worker_stops_in_time(bad: tuple[Ship, Any], harm: Callable[[Any], None]) -> None:
    ship, network = bad
    with ship.worker("--shutdown-timeout", "2", first=PROBED) as worker:
        ship.enqueue("haul", [(1,)])
        until(lambda: ship.job_states() == {State.COMPLETED: 1}, "the job to be done")
        harm(network)
        began = time.monotonic()
        assert stop(worker) == 0
        assert time.monotonic() - began < GENEROUS
    assert "Traceback" not in ship.log()


def test_it_is_told_now_and_then_that_the_server_is_away_and_once_that_it_is_back(
    bad: tuple[Ship, Any],
) -> None:
    ship, network = bad
    with ship.worker("--shutdown-timeout", "2", first=PROBED) as worker:
        ship.enqueue("haul", [(1,)])
        ship.await_runs(1)
        refuse(network)
        ship.await_log("the store did not answer, trying again: ", 2)
        network.accept()
        ship.await_log("the store answers again, after")
        ship.enqueue("haul", [(2,)])
        ship.await_runs(2)
        assert stop(worker) == 0
    log = ship.log()
    told = re.findall(r"(\d\d):(\d\d):(\d\d),.* the store did not answer", log)
    moments = [int(h) * 3600 + int(m) * 60 + int(s) for h, m, s in told]
    assert moments[1] - moments[0] >= 9, "one line for all parts together"
    assert log.count("the store answers again") == 1
    assert "Traceback" not in log
