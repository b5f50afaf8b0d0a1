"""With `replicas` in the URL, nothing is answered that would die with the master."""

from collections.abc import Iterator

import pytest

from tests.servers.redis_sentinel import Sentinels
from tests.servers.server import Server
from windlass.errors import InvalidOption, StoreUnavailable
from windlass.stores.open import open_store
from windlass.stores.redis.url import parse
from windlass.testing.jobs import new_job, put, state_of


@pytest.fixture
def replica(redis_sentinel: Sentinels) -> Iterator[Server]:
    """Frozen, so that it gets nothing; its master is still there and takes writes."""
    redis_sentinel.heal()
    master = redis_sentinel.master()
    [replica] = [server for server in redis_sentinel.servers if server is not master]
    replica.freeze()
    yield replica
    replica.thaw()
    redis_sentinel.heal()


@pytest.mark.parametrize("blocking", [False, True])
async def test_a_job_is_accepted_once_a_replica_has_it(
    redis_sentinel: Sentinels, replica: Server, blocking: bool
) -> None:
    url = f"{redis_sentinel.url}?namespace=proof{blocking}"
    careful = open_store(f"{url}&replicas=1&patience=0.5", blocking=blocking)
    await careful.open()
    with pytest.raises(StoreUnavailable, match="0 of 1 replicas"):
        await put(careful, "job")
    # It is there, but nobody was told so, not even one who asks whether it is.
    with pytest.raises(StoreUnavailable, match="0 of 1 replicas"):
        await careful.get(["job"])
    with pytest.raises(StoreUnavailable, match="0 of 1 replicas"):
        await careful.keep_journal(True)
    plain = open_store(url, blocking=blocking)
    await plain.open()
    assert await state_of(plain, "job") == "pending"
    await plain.close()

    replica.thaw()
    patient = open_store(f"{url}&replicas=1&patience=20", blocking=blocking)
    await patient.open()
    [receipt] = await patient.insert([new_job("job")])
    assert receipt.id == "job"
    await put(patient, "other")
    assert {*await patient.get(["job", "other"])} == {"job", "other"}
    await patient.close()
    await careful.close()


@pytest.mark.parametrize("text", ["x", "-1", "1.5", "100", ""])
def test_a_number_of_replicas_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(InvalidOption, match="replicas"):
        parse(f"redis://host?replicas={text}")
