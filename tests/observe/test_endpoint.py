"""What a worker tells over HTTP, whatever its event loop does."""

import asyncio
import http.client
import socket
import time
from collections.abc import Iterator

import pytest

from tests.servers.ports import free_port
from windlass import Windlass
from windlass.config import WorkerSettings
from windlass.errors import ConfigError, StartupFailed
from windlass.observe import endpoint
from windlass.observe.endpoint import Answer, Endpoint
from windlass.testing.faults import FaultyStore
from windlass.testing.work import until
from windlass.worker import worker as workers
from windlass.worker.worker import Worker

PATIENCE = 20


def get(port: int, path: str, method: str = "GET") -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request(method, path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


@pytest.fixture
def port() -> Iterator[int]:
    """One that is served, with nothing but its name on the page."""
    number = free_port()
    served = Endpoint("127.0.0.1", number, lambda: Answer(b"metrics"), lambda: "not yet")
    served.start()
    yield number
    served.stop()


def test_it_has_three_pages(port: int) -> None:
    assert get(port, "/metrics") == (200, "metrics")
    assert get(port, "/metrics?name=x") == (200, "metrics")
    assert get(port, "/metrics", "HEAD") == (200, "")
    assert get(port, "/livez") == (200, "alive\n")
    assert get(port, "/readyz") == (503, "not yet\n")
    assert get(port, "/")[0] == 404
    assert get(port, "/metrics", "POST")[0] == 501


def test_a_process_that_is_to_be_replaced_is_not_alive() -> None:
    number = free_port()
    reason = "The event loop has been blocked for 61 s."
    served = Endpoint("127.0.0.1", number, lambda: Answer(b""), lambda: reason, lambda: reason)
    served.start()
    assert get(number, "/livez") == (503, f"{reason}\n")
    served.stop()


def test_a_page_that_fails_takes_nothing_down() -> None:
    def broken() -> Answer:
        raise LookupError

    number = free_port()
    served = Endpoint("127.0.0.1", number, broken, lambda: None)
    served.start()
    assert get(number, "/metrics")[0] == 500
    assert get(number, "/readyz") == (200, "ready\n")
    served.stop()
    served.stop()


def test_clients_that_say_nothing_do_not_keep_others_out_for_long(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint._Request, "timeout", 0.2)
    silent = [
        socket.create_connection(("127.0.0.1", port)) for _ in range(endpoint.MOST_AT_ONCE * 3)
    ]
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            assert get(port, "/livez") == (200, "alive\n")
            break
        except (OSError, http.client.HTTPException):
            assert time.monotonic() < deadline
    for each in silent:
        each.close()


async def test_it_answers_while_a_handler_blocks_the_event_loop(app: Windlass) -> None:
    found: list[tuple[int, str]] = []
    number = free_port()

    @app.task
    async def blocking() -> None:
        # On the event loop itself, and nobody else gets a turn on it.
        found.extend(get(number, page) for page in ("/livez", "/readyz", "/metrics"))

    job = await blocking.aenqueue()
    worker = await app.worker(WorkerSettings(metrics_port=number))
    await worker.start()
    await job.aresult(timeout=PATIENCE)
    await worker.stop()
    assert [status for status, _ in found] == [200, 200, 200]
    line = f'windlass_jobs_started_total{{queue="default",task="{blocking.name}"}} 1.0'
    assert line in found[2][1]
    with pytest.raises(OSError, match="refused"):
        await asyncio.to_thread(get, number, "/livez")


async def test_a_worker_is_ready_while_it_works_and_the_store_answers(
    app: Windlass, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "LONGEST_SILENCE", 0.1)
    monkeypatch.setattr("windlass.worker.presence.BEAT", 0.01)
    store = FaultyStore(await app.client.store())
    worker = Worker(app.registry, app.codecs, store, WorkerSettings())
    assert worker.fault() == "The worker has not started yet."
    await worker.start()
    await until(lambda: worker.fault() is None)
    store.down = True
    await until(lambda: worker.fault() is not None)
    assert (worker.fault() or "").startswith("The store has not answered for ")
    store.down = False
    await until(lambda: worker.fault() is None)
    await worker.stop()
    assert worker.fault() == "The worker has stopped."


async def test_a_port_that_is_taken_keeps_the_worker_from_starting(
    app: Windlass, port: int
) -> None:
    @app.task
    async def never() -> None: ...

    worker = await app.worker(WorkerSettings(metrics_port=port))
    with pytest.raises(StartupFailed, match=rf"port {port}: Address already in use; choose"):
        await worker.start()


@pytest.mark.parametrize("port", [-1, 65_536])
def test_a_port_is_a_port(port: int) -> None:
    with pytest.raises(ConfigError, match="metrics_port must be from 0 to 65,535"):
        WorkerSettings(metrics_port=port)
