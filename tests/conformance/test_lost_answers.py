"""A claim whose answer is lost costs no attempt, whichever answer of the server it is."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest

from tests.conformance.stores import SERVERS
from tests.remote.serving import Serving
from tests.servers.emptied import emptied_database, emptied_schema
from tests.servers.proxy import Proxy, forward
from windlass import Windlass
from windlass.core.ids import new_id
from windlass.core.model import Job, Transition
from windlass.core.outcome import Lost, decide
from windlass.core.states import State
from windlass.errors import StoreUnavailable
from windlass.stores.contract import Store
from windlass.stores.open import open_store
from windlass.testing.clock import FakeClock
from windlass.testing.jobs import counts, put

LEASE = 3_600_000
"""Milliseconds: nothing comes back because a lease has run out."""

MOMENTS = range(6)
"""How many answers arrive before the one that is lost. A claim waits for fewer."""


class Network(NamedTuple):
    """A store, and the proxies in front of its servers."""

    direct: str
    through: str
    proxies: Sequence[Proxy]

    def lose_one_answer(self, skip: int) -> None:
        for proxy in self.proxies:
            proxy.drop_replies(1, skip=skip)

    def lose_none(self) -> None:
        for proxy in self.proxies:
            proxy.drop_replies(0)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """On asyncio's own loop, which tells of every connection that is left open."""
    return "asyncio"


@pytest.fixture(params=[name for name in SERVERS if name != "remote"])
def network(request: pytest.FixtureRequest) -> Iterator[Network]:
    name: str = request.param
    server = request.getfixturevalue(SERVERS[name])
    direct = DATA.get(name, of_redis)(server)
    with ExitStack() as stack:
        if name in ANNOUNCED:
            ports = [node.port for node in ANNOUNCED[name](server)]
            proxies = [stack.enter_context(forward(port)) for port in ports]
            moved = (f"127.0.0.1:{p.target}=127.0.0.1:{p.port}" for p in proxies)
            through = f"{direct}&addresses={','.join(moved)}"
        else:
            proxies = [stack.enter_context(forward(port_of(direct)))]
            through = proxies[0].through(direct)
        yield Network(direct, through, proxies)


def port_of(url: str) -> int:
    port = urlsplit(url).port
    assert port is not None
    return port


def of_redis(server: Any) -> str:
    return f"{server.url}?namespace={new_id()}"


DATA: Mapping[str, Callable[[Any], str]] = {
    "postgres": lambda server: emptied_schema(server.url, "lost_answers"),
    "postgres-pgbouncer": lambda server: emptied_schema(server.url, "lost_answers_pooled"),
    "mariadb": lambda server: emptied_database(server.url, "lost_answers"),
}
"""The URL of a store without jobs, where it is not a namespace of Redis."""

ANNOUNCED: Mapping[str, Callable[[Any], Sequence[Any]]] = {
    "redis-cluster": lambda cluster: [cluster.master_of(n) for n in (0, 8_000, 16_000)],
    "redis-sentinel": lambda sentinels: [sentinels.master()],
}
"""The servers that clients are told of by others, and so need `addresses`."""


async def test_a_claim_whose_answer_is_lost_costs_no_attempt(network: Network) -> None:
    observer, store = open_store(network.direct), open_store(network.through)
    await observer.open()
    await store.open()
    try:
        await put(observer, "before")
        await all_of(store, 1)
        dropped = [await lose_at(network, observer, store, moment) for moment in MOMENTS]
        assert dropped[0], "no answer of a claim went through the proxies"
        assert await counts(observer) == {State.COMPLETED: 1 + 3 * len(MOMENTS)}
    finally:
        await store.close()
        await observer.close()


async def test_a_claim_over_http_whose_answer_is_lost_costs_its_lease_alone(
    remote_server: Serving,
) -> None:
    """The server knows of no answer that it has lost: the job comes when the lease has run out."""
    clock = FakeClock()
    direct = remote_server.host(Windlass("memory://", clock=clock))
    with forward(port_of(direct)) as proxy:
        store = open_store(proxy.through(direct))
        await store.open()
        await put(store, "a")
        proxy.drop_replies(1)
        assert await store.claim({"default": 1}, 1, LEASE, "worker") == []
        assert proxy.counts.dropped == 1
        clock.advance(LEASE / 1000 + 1)
        [found] = await store.rescue(1, LEASE, "another")
        lost = decide(found, Lost(), uniform=lambda: 0.5)
        assert await store.finish([lost]) == {"a"}
        clock.advance(LEASE / 1000)
        await all_of(store, 1)
        await store.close()


async def lose_at(network: Network, observer: Store, store: Store, moment: int) -> bool:
    """Put three jobs and claim them, with one answer lost; whether one was."""
    before = sum(proxy.counts.dropped for proxy in network.proxies)
    await put(observer, *[f"{moment}-{n}" for n in range(3)])
    network.lose_one_answer(moment)
    await all_of(store, 3)
    network.lose_none()
    return sum(proxy.counts.dropped for proxy in network.proxies) > before


async def all_of(store: Store, number: int) -> None:
    """Claim so many jobs, each of which comes once and at its first attempt, and complete them."""
    found: list[Job] = []
    for _ in range(10):
        try:
            found += await store.claim({"default": 1}, 10, LEASE, "worker")
        except StoreUnavailable:
            continue
        if len(found) >= number:
            break
    assert [job.attempt for job in found] == [1] * number
    assert len({job.id for job in found}) == number
    ends = [Transition(job.id, job.fence, State.COMPLETED, ref=job.ref) for job in found]
    assert await store.finish(ends) == {job.id for job in found}
