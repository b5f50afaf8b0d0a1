"""Real processes on each store, hurt on purpose: nothing is lost and nothing is done twice."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import pytest
from msgspec.structs import replace

from tests.chaos.stores import Site, of_cluster, of_sentinels, of_server, sqlite
from tests.servers.fork_server import start
from tests.servers.proxy import forward
from windlass.testing.chaos import crew, nursery
from windlass.testing.chaos.plan import ChaosPlan
from windlass.testing.chaos.run import run

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(240)]

ROOT = Path(__file__).parents[2]
SECONDS = float(os.environ.get("WINDLASS_CHAOS_SECONDS", "3"))
PLAN = ChaosPlan(seconds=SECONDS, jobs=int(SECONDS * 180), kills_per_second=1.4, lease=1.5)
CALM = ChaosPlan(
    seconds=1.0,
    jobs=200,
    kills_per_second=0.0,
    supervised=False,
    server=False,
    workers=1,
    producers=1,
    lease=1.0,
)
STORES = (
    "sqlite",
    "redis_server",
    "redis_sentinel",
    "redis_cluster",
    "postgres_server",
    "mariadb_server",
)


@pytest.fixture(autouse=True)
def forked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fork the parent of all processes; `windlass verify` and a soak start an interpreter."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))

    def start_nursery(errors: BinaryIO) -> subprocess.Popen[bytes]:
        module = ["-P", "-m", nursery.__name__]
        return start(module, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors)

    monkeypatch.setattr(crew, "start_nursery", start_nursery)


@pytest.fixture(params=STORES)
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Site]:
    if request.param == "sqlite":
        with sqlite() as made:
            yield made
    elif request.param == "redis_sentinel":
        sentinels = request.getfixturevalue(request.param)
        sentinels.heal()
        yield of_sentinels(sentinels)
    elif request.param == "redis_cluster":
        cluster = request.getfixturevalue(request.param)
        cluster.heal()
        yield of_cluster(cluster)
    else:
        server = request.getfixturevalue(request.param)
        with forward(server.port) as proxy:
            yield of_server(server, proxy)


async def test_nothing_is_lost_or_ends_twice_whatever_is_killed(site: Site) -> None:
    plan = PLAN
    if "replicas=1" in site.url:
        # Nothing can be done for as long as a takeover takes.
        plan = replace(plan, seconds=1.5 * plan.seconds, kills_per_second=0.9)
    verdict = await run(site.url, plan, site.harms)
    assert not verdict.breaches, "\n".join(map(str, verdict.breaches[:10]))
    assert (verdict.lost, verdict.completed_twice) == (0, 0)
    assert verdict.jobs > 0
    assert verdict.kills > 0
    assert verdict.served > 0
    assert bool(verdict.restarts) is bool(site.harms)


async def test_a_run_leaves_no_file_behind(tmp_path: Path) -> None:
    verdict = await run(f"sqlite:///{tmp_path}/jobs.db", CALM)
    assert verdict.is_clean
    assert verdict.jobs > 0
    assert not list(tmp_path.iterdir())


async def test_those_of_a_supervisor_do_their_part(tmp_path: Path) -> None:
    plan = replace(CALM, workers=0, supervised=True)
    verdict = await run(f"sqlite:///{tmp_path}/jobs.db", plan)
    assert verdict.is_clean
    assert verdict.jobs > 0


@pytest.mark.parametrize(
    ("broken", "rule"),
    [
        ("Forgetful", "nothing_accepted_is_lost"),
        ("Careless", "nothing_ends_twice"),
    ],
)
async def test_a_store_that_breaks_a_promise_is_found_out(
    broken: str, rule: str, tmp_path: Path
) -> None:
    plan = replace(CALM, wrap=f"tests.chaos.broken:{broken}")
    verdict = await run(f"sqlite:///{tmp_path}/jobs.db", plan)
    assert rule in {breach.rule for breach in verdict.breaches}
