"""A statement whose answer was lost is sent again, and does no harm by it.

`tests/stores/sql` has what is the same on all engines.
"""

import pytest

from tests.servers.proxy import Proxy
from tests.servers.server import Server
from tests.stores.postgres.site import emptied, opened
from windlass.core.model import Job, Spec, Transition
from windlass.core.states import State
from windlass.testing.jobs import claim_one, counts, job_of, put

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


async def test_a_claim_whose_answer_was_lost_is_left_to_its_lease(
    direct: str, through: str, postgres_proxy: Proxy
) -> None:
    async with opened(direct) as observer, opened(through) as store:
        await put(observer, "a", "b")
        await store.ping()
        postgres_proxy.drop_replies(1, after=b"lost-worker")
        again = await store.claim({"default": 1}, 1, 1, "lost-worker")
        assert [job.id for job in again] == ["b"]
        rescued: list[Job] = []
        while not rescued:
            rescued = list(await observer.rescue(1, 1_000, "w"))
        assert rescued[0].id == "a"
