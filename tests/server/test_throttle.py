"""How many requests a key may make."""

import pytest

from tests.server.conftest import Serve
from windlass.core.limit import Limit
from windlass.errors import Throttled
from windlass.server import throttle
from windlass.server.throttle import Throttle


async def test_a_key_over_its_rate_is_429_and_others_are_not(serve: Serve) -> None:
    api = await serve(rate="3/h")
    ada, bob = await api.add_key("read"), await api.add_key("read")
    statuses = [(await api.get("jobs", key=ada)).status for _ in range(4)]
    assert statuses == [200, 200, 200, 429]
    over = await api.get("jobs", key=ada)
    assert over.json["error"] == "Throttled"
    assert "may make 3 requests in 3600 s; try again in" in over.detail
    assert 0 < over.json["retry_after"] <= 1_200
    assert int(over.headers["Retry-After"]) >= over.json["retry_after"]
    assert (await api.get("jobs", key=bob)).status == 200


async def test_refused_requests_count_too_and_probes_do_not(serve: Serve) -> None:
    api = await serve(rate="1/h")
    key = await api.add_key("read")
    assert (await api.post("queues/mail/pause", key=key)).status == 403
    assert (await api.post("queues/mail/pause", key=key)).status == 429
    for _ in range(5):
        assert (await api.get("/livez")).status == 200
        # A wrong key is nobody's, and takes nothing from anybody.
        assert (await api.get("jobs", key="wrong")).status == 401


async def test_an_open_server_counts_everybody_together(serve: Serve) -> None:
    api = await serve(rate="1/h")
    assert [(await api.get("jobs")).status for _ in range(2)] == [200, 429]


async def test_nothing_is_stored_by_a_request_over_the_rate(serve: Serve) -> None:
    api = await serve(rate="1/h")
    key = await api.add_key("enqueue")
    statuses = [(await api.post("jobs", {"task": "x"}, key=key)).status for _ in range(5)]
    assert statuses == [201, 429, 429, 429, 429]
    assert await api.number() == 1


def test_tokens_come_back_with_time() -> None:
    now = 1_000.0
    throttle = Throttle(Limit(rate="10/s", burst=2), clock=lambda: now)
    throttle.take("ada")
    throttle.take("ada")
    with pytest.raises(Throttled) as caught:
        throttle.take("ada")
    assert 0 < caught.value.after <= 0.1
    throttle.take("bob")
    now += caught.value.after
    throttle.take("ada")
    with pytest.raises(Throttled):
        throttle.take("ada")


def test_without_a_rate_nothing_is_counted() -> None:
    throttle = Throttle(None)
    for _ in range(10_000):
        throttle.take("ada")


def test_names_that_come_from_outside_do_not_fill_the_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(throttle, "MOST_NAMES", 10)
    now = 0.0
    kept = Throttle(Limit(rate="1/min", burst=1), clock=lambda: now)
    for number in range(5):
        kept.take(f"old {number}")
    now = 100.0
    for number in range(30):
        kept.take(f"new {number}")
        assert len(kept._full_at) <= 10
    with pytest.raises(Throttled):
        kept.check("new 29")
    kept.check("new 0")
