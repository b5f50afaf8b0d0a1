"""What a proxy says of its clients: believed from those that were named, and from nobody else."""

import pytest

from tests.server.conftest import Serve
from windlass.config import ServerSettings
from windlass.errors import ConfigError
from windlass.server.http.forwarded import Networks, client_of
from windlass.server.site import FEW

FORGED = {
    "X-Forwarded-For": "203.0.113.9",
    "X-Forwarded-Proto": "https",
    "X-Forwarded-Host": "evil.example.org",
}


async def test_nobody_is_believed_who_was_not_named(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "*")
    api = await serve()
    key = await api.add_key("operate")
    with caplog.at_level("INFO", "windlass.audit"):
        await api.post("queues/mail/pause", key=key, headers=FORGED)
    assert '"address":"127.0.0.1"' in caplog.text and "203.0.113.9" not in caplog.text
    answer = await api.post("/login", {"key": key}, headers=FORGED)
    assert "Secure" not in answer.headers["Set-Cookie"]
    # Each of them counts for the one address that they come from.
    tries = [
        (
            await api.post(
                "/login", {"key": "wrong"}, headers={"X-Forwarded-For": f"203.0.113.{each}"}
            )
        ).status
        for each in range(FEW + 5)
    ]
    assert tries == [401] * FEW + [429] * 5


async def test_a_proxy_that_was_named_is_believed(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    api = await serve(trusted_proxies=("127.0.0.0/8",))
    key = await api.add_key("operate")
    with caplog.at_level("INFO", "windlass.audit"):
        for headers in (
            {"X-Forwarded-For": "203.0.113.9"},
            {"X-Forwarded-For": "198.51.100.1, 203.0.113.9, 127.0.0.5"},
        ):
            caplog.clear()
            await api.post("queues/mail/pause", key=key, headers=headers)
            assert '"address":"203.0.113.9"' in caplog.text
    origin = {"Origin": "https://ops.example.org", "X-Forwarded-Host": "ops.example.org"}
    answer = await api.post("/login", {"key": key}, headers=origin | {"X-Forwarded-Proto": "https"})
    cookie = answer.headers["Set-Cookie"]
    assert answer.status == 200 and "Secure" in cookie
    login = {"Cookie": cookie.partition(";")[0]}
    assert (await api.post("queues/mail/pause", headers=login | origin)).status == 200
    assert (await api.post("queues/mail/pause", headers=login)).status == 403
    # One client behind it that tries keys shuts out no other, nor anybody who has a right one.
    for _ in range(FEW + 1):
        headers = {"X-Forwarded-For": "203.0.113.66"}
        last = await api.post("/login", {"key": "wrong"}, headers=headers)
    assert last.status == 429
    headers = {"X-Forwarded-For": "203.0.113.67"}
    assert (await api.post("/login", {"key": "wrong"}, headers=headers)).status == 401


@pytest.mark.parametrize(
    ("said", "client"),
    [
        ("", "10.0.0.1"),
        ("203.0.113.9", "203.0.113.9"),
        ("1.1.1.1, 203.0.113.9", "203.0.113.9"),
        ("1.1.1.1, 203.0.113.9, 10.9.9.9", "203.0.113.9"),
        ("10.0.0.7, 10.0.0.8", "10.0.0.7"),
        ("203.0.113.9:4711", "203.0.113.9"),
        ("[2001:db8::9]:4711", "2001:db8::9"),
        ("1.1.1.1, nonsense", "10.0.0.1"),
        ("1.1.1.1, nonsense, 10.0.0.8", "10.0.0.8"),
        ("::ffff:203.0.113.9", "203.0.113.9"),
    ],
)
def test_the_client_is_the_nearest_that_is_no_proxy(said: str, client: str) -> None:
    headers = [(b"x-forwarded-for", part.encode()) for part in said.split(", ")]
    assert client_of(headers, "10.0.0.1", Networks(["10.0.0.0/8"])) == client


@pytest.mark.parametrize("named", ["*", "proxy.example.org", "10.0.0.0/99", ""])
def test_proxies_are_addresses_or_networks(named: str) -> None:
    with pytest.raises(ConfigError, match="trusted_proxies must be addresses or networks"):
        ServerSettings(trusted_proxies=(named,))
