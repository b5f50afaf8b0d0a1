"""Lanes and groups, with others at the same moment."""

import asyncio
from collections import Counter

import pytest

from tests.servers.mysql_client import query
from tests.servers.server import Server
from tests.stores.mysql.site import emptied, fresh, named, opened
from tests.stores.mysql.user import begun
from windlass.core.lane import Lane
from windlass.core.model import Job, Receipt, Spec, Transition
from windlass.core.states import State
from windlass.stores.guest.mysql import AsyncmyGuest
from windlass.stores.mysql.store import MysqlStore
from windlass.testing.jobs import claim, counts, ids, new_job, put, state_of

TWO = Spec("work", b"", lane=Lane("two", slots=2))
TOGETHER = Lane("together", size=5, grace=20, longest=50)
SPECS = {
    "slots": [TWO],
    "sequence": [Spec("work", b"", lane=Lane("one", slots=1, strict=True))],
    "rate": [Spec("work", b"", lane=Lane("rate", starts=1_000, per=1_000, burst=10))],
    "batch": [Spec("work", b"", lane=TOGETHER)],
    "groups": [Spec("work", b"", group=group) for group in "ghi"],
    "both": [Spec("work", b"", lane=Lane("two", slots=2), group=group) for group in "gh"],
}
SLOTS = {"slots": 2, "sequence": 1, "both": 2}
MANY = 60


@pytest.fixture
def url(mariadb_server: Server) -> str:
    return emptied(mariadb_server.url)


class Crew:
    """Workers that claim and complete until all is done, and how many ran at once at the most."""

    def __init__(self) -> None:
        self.done: Counter[str] = Counter()
        self.running = 0
        self.most = 0

    async def work(self, store: MysqlStore, worker: str) -> None:
        while len(self.done) < MANY:
            jobs = await store.claim({"default": 3}, 3, 60_000, worker)
            self.running += len(jobs)
            self.most = max(self.most, self.running)
            await asyncio.sleep(0.002)
            self.running -= len(jobs)
            self.done.update(await store.finish([_completed(job) for job in jobs]))


def _completed(job: Job) -> Transition:
    return Transition(job.id, job.fence, State.COMPLETED, queue=job.queue, ref=job.ref)


@pytest.mark.parametrize("kind", SPECS)
async def test_any_number_of_processes_keep_to_the_limits(url: str, kind: str) -> None:
    specs, crew = SPECS[kind], Crew()

    async def produce(store: MysqlStore, first: int) -> None:
        for n in range(first, MANY, 2):
            await store.insert([new_job(f"j{n}", specs[n % len(specs)])])

    async with opened(url) as one, opened(url) as two, asyncio.timeout(60):
        work = [crew.work(store, f"w{n}") for n, store in enumerate((one, two, one, two))]
        await asyncio.gather(produce(one, 0), produce(two, 1), *work)
        assert crew.done == Counter(f"j{n}" for n in range(MANY))
        assert crew.most <= SLOTS.get(kind, MANY)
        assert await counts(one) == {State.COMPLETED: MANY}
        assert query(url, f"SELECT COUNT(*) FROM {named(url, 'turns')}") == [(0,)]


async def test_no_two_jobs_of_groups_get_one_place(url: str) -> None:
    async with opened(url) as one, opened(url) as two:
        jobs = [new_job(f"j{n}", SPECS["groups"][n % 3]) for n in range(MANY)]
        await asyncio.gather(
            *((one, two)[n % 2].insert(jobs[n : n + 5]) for n in range(0, MANY, 5))
        )
        rows = query(url, f"SELECT COUNT(DISTINCT place), MIN(place) FROM {named(url, 'jobs')}")
        assert rows[0][0] == MANY
        assert rows[0][1] > 2**62


async def test_who_has_no_group_goes_first_however_long_the_store_has_run(
    mariadb_server: Server,
) -> None:
    url = fresh(mariadb_server.url)
    async with opened(url) as store:
        query(url, f"ALTER TABLE {named(url, 'deltas')} AUTO_INCREMENT = {2**32}")
        await put(store, "g", spec=Spec("work", b"", group="g"))
        await put(store, "plain")
        assert ids(await claim(store)) == ["plain", "g"]


async def test_a_users_transaction_sees_the_slots_that_were_given_since_it_began(url: str) -> None:
    async with opened(url) as store, begun(url) as connection:
        guest = AsyncmyGuest(connection)
        # The state that this transaction looks at, where nobody has a slot.
        await guest.fetch(f"SELECT COUNT(*) FROM {named(url, 'jobs')}", ())
        await put(store, "a", "b", spec=TWO)
        receipts = await guest.perform(store.dialect, store.inserting([new_job("c", TWO)]))
        assert receipts == [Receipt("c")]
        await connection.commit()
        assert await state_of(store, "c") is State.BLOCKED
        assert ids(await claim(store)) == ["a", "b"]


async def test_a_users_transaction_gives_the_slot_that_its_job_gets(url: str) -> None:
    async with opened(url) as store, begun(url) as connection:
        grouped = Spec("work", b"", group="g", lane=Lane("two", slots=2))
        jobs = [new_job(id, grouped) for id in "abc"]
        await AsyncmyGuest(connection).perform(store.dialect, store.inserting(jobs))
        assert await claim(store) == []
        await connection.commit()
        assert ids(await claim(store)) == ["a", "b"]
        assert await store.cancel(["a"]) == {"a"}
        assert ids(await claim(store)) == ["c"]
