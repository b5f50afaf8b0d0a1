"""A store that loses what it has acknowledged, under real processes: no fence comes again."""

from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from tests.chaos.stores import Site, of_lagging_cluster, of_lagging_sentinels, of_snapshots
from tests.chaos.test_processes import CALM, forked
from tests.servers import redis
from tests.servers.redis_cluster import Cluster
from tests.servers.redis_sentinel import Sentinels
from windlass.testing.chaos.run import run

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(240), pytest.mark.usefixtures(forked.__name__)]

PLAN = replace(
    CALM, seconds=3.0, jobs=1_500, workers=2, kills_per_second=0.4, forgets=True, concurrency=5
)


@pytest.fixture(params=["single", "sentinel", "cluster"])
def site(request: pytest.FixtureRequest) -> Iterator[Site]:
    if request.param == "single":
        with redis.serve("--appendonly no") as server:
            yield of_snapshots(server)
    elif request.param == "sentinel":
        sentinels: Sentinels = request.getfixturevalue("redis_sentinel")
        sentinels.heal()
        yield of_lagging_sentinels(sentinels)
    else:
        cluster: Cluster = request.getfixturevalue("redis_cluster")
        cluster.heal()
        yield of_lagging_cluster(cluster)


async def test_no_fence_repeats_whatever_the_store_forgets(site: Site) -> None:
    verdict = await run(site.url, PLAN, site.harms)
    assert not verdict.breaches, "\n".join(map(str, verdict.breaches[:10]))
    assert verdict.faults["loss"] > 0
    assert verdict.jobs > 0
