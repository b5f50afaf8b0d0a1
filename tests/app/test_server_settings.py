"""The settings of a server: what it can be told, and what is refused."""

from typing import Any

import msgspec
import pytest

from windlass.config import ServerSettings
from windlass.core.limit import Limit
from windlass.errors import ConfigError


def made(**given: Any) -> ServerSettings:
    return ServerSettings(**given)


def test_without_anything_only_this_machine_is_served() -> None:
    settings = ServerSettings()
    assert settings.is_local
    assert not settings.has_tls
    assert not settings.insecure
    assert settings.limit is None


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST", "127.0.0.1", "127.8.0.1", "::1"])
def test_a_loopback_address_is_local(host: str) -> None:
    assert made(host=host).is_local


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.7", "example.org", "local.host"])
def test_any_other_place_is_not(host: str) -> None:
    assert not made(host=host).is_local


@pytest.mark.parametrize("host", ["", "localhost:8080", "[::1]", "http://localhost", "a b", "\n"])
def test_a_host_that_cannot_be(host: str) -> None:
    with pytest.raises(ConfigError, match="host must be a name or an address without a port"):
        made(host=host)


@pytest.mark.parametrize("ports", [(0, 0), (8080, -1), (1, 65_535), (0, -1)])
def test_ports_may_be_free_ones_or_none(ports: tuple[int, int]) -> None:
    settings = made(http_port=ports[0], grpc_port=ports[1])
    assert (settings.http_port, settings.grpc_port) == ports


@pytest.mark.parametrize(
    ("name", "port", "least"),
    [("http_port", -1, 0), ("http_port", 65_536, 0), ("grpc_port", -2, -1)],
)
def test_a_port_that_cannot_be(name: str, port: int, least: int) -> None:
    with pytest.raises(ConfigError, match=f"^{name} must be a number from {least} to 65535"):
        made(**{name: port})


def test_two_apis_cannot_share_a_port() -> None:
    with pytest.raises(ConfigError, match="http_port and grpc_port must differ"):
        made(http_port=7000, grpc_port=7000)


@pytest.mark.parametrize(
    "given", [{"tls_cert": "c.pem"}, {"tls_key": "k.pem"}, {"tls_key": "k", "tls_client_ca": "a"}]
)
def test_a_certificate_needs_its_key(given: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="tls_cert and tls_key belong together"):
        made(**given)


def test_certificates_of_clients_need_one_of_the_server() -> None:
    with pytest.raises(ConfigError, match="tls_client_ca needs tls_cert and tls_key"):
        made(tls_client_ca="ca.pem")
    assert made(tls_client_ca="ca.pem", tls_cert="c.pem", tls_key="k.pem").has_tls


TIMES = [field.name for field in msgspec.structs.fields(ServerSettings) if field.type is float]
SIZES = [
    field.name
    for field in msgspec.structs.fields(ServerSettings)
    if field.type is int and not field.name.endswith("port")
]
MAY_BE_NOTHING = {"max_wait", "shutdown_timeout"}


@pytest.mark.parametrize("name", [*TIMES, *SIZES])
def test_no_time_and_no_size_is_below_nothing(name: str) -> None:
    with pytest.raises(ConfigError, match=f"^{name} must be"):
        made(**{name: -1})
    if name in MAY_BE_NOTHING:
        assert getattr(made(**{name: 0}), name) == 0
    else:
        with pytest.raises(ConfigError, match=f"^{name} must be above 0"):
            made(**{name: 0})


@pytest.mark.parametrize("name", TIMES)
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_every_time_has_an_end(name: str, value: float) -> None:
    with pytest.raises(ConfigError, match=f"^{name} must"):
        made(**{name: value})


@pytest.mark.parametrize(
    ("rate", "burst"), [("100/s", 100), ("5/30s", 5), ("1000/h", 1000), (" 10 / min ", 10)]
)
def test_a_rate_is_written_as_that_of_a_limit_and_may_come_at_once(rate: str, burst: int) -> None:
    assert made(rate=rate).limit == Limit(rate=rate, burst=burst)


@pytest.mark.parametrize("rate", ["many", "100", "0/s", "5/0s", "1/week", " "])
def test_a_rate_that_cannot_be(rate: str) -> None:
    with pytest.raises(ConfigError, match="rate"):
        made(rate=rate)


@pytest.mark.parametrize("redact", ["password", ("",)])
def test_names_to_redact_are_a_list_of_names(redact: Any) -> None:
    with pytest.raises(ConfigError, match="redact must be a list of names"):
        made(redact=redact)


@pytest.mark.parametrize("path", ["windlass", "/windlass/", "/", "/a b", '/"', "//x", "/ä"])
def test_a_root_path_is_one_that_a_page_can_have_in_it(path: str) -> None:
    with pytest.raises(ConfigError, match="root_path must be a path"):
        made(root_path=path)
    assert made(root_path="/tools/windlass-2").root_path


@pytest.mark.parametrize("source", ["*", "wiki.example.org", "https://a; script-src *", "'self'"])
def test_who_may_frame_the_pages_is_named_by_origins(source: str) -> None:
    with pytest.raises(ConfigError, match="frame_ancestors must be self or origins"):
        made(frame_ancestors=(source,))
    assert made(frame_ancestors=("self", "https://*.example.org", "http://localhost:3000"))
