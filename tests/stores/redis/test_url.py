"""What Redis URLs say, and what is told about those that say nothing sensible."""

import ssl
from pathlib import Path

import pytest

from tests.servers.certificates import certify
from windlass.errors import InvalidOption, UnknownScheme
from windlass.stores.redis.url import SCHEMES, UNIX, Address, parse


@pytest.mark.parametrize(
    ("url", "address", "db"),
    [
        ("redis://", ("localhost", 6379), 0),
        ("redis:///3", ("localhost", 6379), 3),
        ("redis://example.com", ("example.com", 6379), 0),
        ("redis://example.com:6380/2", ("example.com", 6380), 2),
        ("redis://:6380", ("localhost", 6380), 0),
        ("valkey://[::1]/1", ("::1", 6379), 1),
        ("valkey://[::1]:7000/", ("::1", 7000), 0),
    ],
)
def test_a_single_server_has_one_address_and_a_database(
    url: str, address: tuple[str, int], db: int
) -> None:
    settings = parse(url)
    assert settings.topology == "single"
    assert settings.addresses == (Address(*address),)
    assert settings.db == db


def test_sentinels_have_their_own_port_and_name_a_master() -> None:
    settings = parse("redis+sentinel://a,[::1]:5,c:26380/my%2Fmaster/4?sentinel_password=x%26y")
    assert settings.topology == "sentinel"
    assert settings.addresses == (("a", 26379), ("::1", 5), ("c", 26380))
    assert (settings.master, settings.db) == ("my/master", 4)
    assert (settings.sentinel_username, settings.sentinel_password) == (None, "x&y")


def test_a_cluster_has_several_nodes() -> None:
    settings = parse("valkeys+cluster://u:p@a,b:7001")
    assert settings.topology == "cluster"
    assert settings.addresses == (("a", 6379), ("b", 7001))
    assert settings.tls is not None


def test_users_and_passwords_are_percent_decoded() -> None:
    settings = parse("redis://us%40er:p%40ss%2Fw%3Ard%3F%23@host")
    assert (settings.username, settings.password) == ("us@er", "p@ss/w:rd?#")
    assert parse("redis://:secret@host").username is None
    assert parse("redis://:secret@host").password == "secret"


def test_options_have_defaults_and_can_be_given() -> None:
    plain = parse("redis://host")
    assert (plain.namespace, plain.patience, plain.timeout) == ("windlass", 5.0, 5.0)
    assert plain.partitions == {}
    given = parse("redis://h?namespace=shop&patience=0&timeout=1.5&partitions=hot:4,mail:in:2")
    assert (given.namespace, given.patience, given.timeout) == ("shop", 0.0, 1.5)
    assert given.partitions == {"hot": 4, "mail:in": 2}


@pytest.mark.parametrize("scheme", [each for each in SCHEMES if each not in UNIX])
def test_every_scheme_knows_whether_it_is_secure(scheme: str) -> None:
    tail = "/name" if "sentinel" in scheme else ""
    secure = parse(f"{scheme}://host{tail}").tls
    assert (secure is not None) == (scheme.partition("+")[0] in ("rediss", "valkeys"))
    if secure is not None:
        assert secure.verify_mode is ssl.CERT_REQUIRED and secure.check_hostname


def test_tls_files_are_loaded_and_verification_can_be_switched_off(tmp_path: Path) -> None:
    files = certify(tmp_path)
    own = f"cert={files.certificate('client')}&key={files.key('client')}"
    trusting = parse(f"rediss://host?ca={files.authority}&{own}").tls
    assert trusting is not None
    subjects = [dict(ca)["subject"] for ca in trusting.get_ca_certs()]
    assert len(subjects) > len(ssl.create_default_context().get_ca_certs())
    careless = parse("rediss://host?verify=no").tls
    assert careless is not None and careless.verify_mode is ssl.CERT_NONE


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("redis://h:0", "port"),
        ("redis://h:65536", "port"),
        ("redis://h:x", "port"),
        ("redis://h/x", "database"),
        ("redis://h/-1", "database"),
        ("redis://h/1/2", "database"),
        ("redis://::1", "brackets"),
        ("redis://[::1", "IPv6"),
        ("redis://a,b", "one server"),
        ("redis+cluster://a,,b", "host is missing"),
        ("redis+cluster://a/1", "only database 0"),
        ("redis+sentinel://a", "name of its master"),
        ("redis+sentinel://a//1", "name of its master"),
        ("redis://:@h", "empty"),
        ("redis://h?pacience=1", "did you mean patience"),
        ("redis://h?zzz=1", "known are namespace"),
        ("redis://h?patience=long", "number of seconds"),
        ("redis://h?patience=-1", "0 or more"),
        ("redis://h?timeout=0", "at least"),
        ("redis://h?namespace=", "name without blanks"),
        ("redis://h?namespace=a{b}", "name without blanks"),
        ("redis://h?partitions=hot", "like partitions=hot:4"),
        ("redis://h?partitions=hot:0", "1 to 16"),
        ("redis://h?partitions=hot:17", "1 to 16"),
        ("redis://h?ca=x", "needs TLS"),
        ("redis://h?verify=no", "needs TLS"),
        ("rediss://h?verify=maybe", "yes or no"),
        ("rediss://h?ca=/no/such/file", "No such file"),
        ("rediss://h?key=x", "needs cert"),
        ("redis://h?sentinel_password=x", r"needs redis\+sentinel"),
        ("redis+sentinel://h/m?sentinel_username=x", "sentinel_password beside it"),
    ],
)
def test_what_makes_no_sense_is_told_in_one_sentence(url: str, told: str) -> None:
    with pytest.raises(InvalidOption, match=told):
        parse(url)


def test_a_certificate_that_is_none_is_told(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("nothing")
    with pytest.raises(InvalidOption, match=r"ca=.*ca\.pem in a Redis URL cannot be used"):
        parse(f"rediss://host?ca={tmp_path / 'ca.pem'}")


def test_another_scheme_is_not_ours() -> None:
    with pytest.raises(UnknownScheme, match="starts with one of redis, "):
        parse("http://host")


@pytest.mark.parametrize(
    "url",
    [
        "redis://user:se/cret@host",
        "redis://user:se?cret@host",
        "redis://user:se?cret=1@host",
        "redis://user:secret@host:x",
        "redis://user:secret@host/x",
        "redis://user:secret@host?nonsense=1",
        "redis+sentinel://user:secret@host",
        "redis+sentinel://h/m?sentinel_password=secret&sentinel_user=x",
        "redis://u:cret:secret",
    ],
)
def test_no_error_shows_a_password(url: str) -> None:
    with pytest.raises(InvalidOption) as caught:
        parse(url)
    assert "cret" not in str(caught.value)


def test_settings_do_not_show_a_password_either() -> None:
    settings = parse("redis+sentinel://u:secret@host/m?sentinel_password=secret2")
    assert "secret" not in repr(settings) + str(settings)
    assert "host:26379" in repr(settings)
