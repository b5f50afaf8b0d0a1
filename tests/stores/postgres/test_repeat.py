"""A statement whose answer was lost is sent again, and does no harm by it.

`tests/stores/sql` has what is the same on all engines.
"""

import pytest

from tests.servers.proxy import Proxy
from tests.servers.server import Server
from tests.stores.postgres.site import emptied, opened
from windlass.core.model import Spec, Transition
from windlass.core.states import State
from windlass.errors import StoreUnavailable
from windlass.testing.jobs import claim, claim_one, counts, ids, job_of, put

KEPT = Spec("work", b"")
UNKEPT = Spec("work", b"", keep=0)


@pytest.fixture
def direct(postgres_server: Server) -> str:
    return emptied(postgres_server.url)


@pytest.fixture
def through(direct: str, postgres_proxy: Proxy) -> str:
    return postgres_proxy.through(direct)


@pytest.mark.parametrize("spec", [KEPT, UNKEPT], ids=["kept", "unkept"])
async def test_a_completion_that_was_carried_out_counts_as_held(
    direct: str, through: str, postgres_proxy: Proxy, spec: Spec
) -> None:
    async with opened(direct) as observer, opened(through) as store:
        await put(observer, "lost-reply", spec=spec)
        job = await claim_one(observer)
        move = Transition(job.id, job.fence, State.COMPLETED, result=b"r")
        await store.ping()
        postgres_proxy.drop_replies(1, after=b"lost-reply")
        assert await store.finish([move]) == {"lost-reply"}
        assert postgres_proxy.counts.dropped == 1
        assert await counts(observer) == ({State.COMPLETED: 1} if spec is KEPT else {})


async def test_a_commit_whose_answer_was_lost_is_asked_for_and_not_repeated(
    direct: str, through: str, postgres_proxy: Proxy
) -> None:
    async with opened(direct) as observer, opened(through) as store:
        await put(observer, "a")
        postgres_proxy.drop_replies(1, after=b"COMMIT")
        assert await store.cancel(["a"]) == {"a"}
        assert postgres_proxy.counts.dropped == 1
        job = await claim_one(observer) if await observer.replay(["a"]) else None
        assert job is not None
        postgres_proxy.drop_replies(1, after=b"COMMIT")
        retry = Transition(job.id, job.fence, State.RETRY, delay=60_000)
        assert await store.finish([retry]) == {"a"}
        assert (await job_of(observer, "a")).state is State.RETRY
        assert await counts(observer) == {State.RETRY: 1}


async def test_a_claim_that_failed_is_given_to_the_next_one(
    direct: str, postgres_proxy: Proxy
) -> None:
    """The caller was told that the store did not answer, and asks again."""
    through = postgres_proxy.through(direct) + "&patience=0"
    async with opened(direct) as observer, opened(through) as store:
        await put(observer, "a", "b")
        await store.ping()
        postgres_proxy.drop_replies(1, after=b"lost-worker")
        with pytest.raises(StoreUnavailable):
            await claim(store, 1, worker="lost-worker")
        assert ids(await claim(store, 1, worker="lost-worker")) == ["a"]
        assert ids(await claim(store, 1, worker="lost-worker")) == ["b"]
