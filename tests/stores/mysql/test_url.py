"""What a MySQL URL can say, and what is said about one that cannot be."""

import pytest

from windlass.errors import InvalidOption
from windlass.stores.mysql.store import MysqlStore
from windlass.stores.mysql.url import parse
from windlass.stores.open import open_store


def test_a_url_with_everything() -> None:
    settings = parse(
        "mysql://us%40er:p%2Fw@db.example:3307/jobs"
        "?namespace=shop&pool=3&migrate=off&patience=1&timeout=2&socket=/run/mysqld.sock"
    )
    assert (settings.user, settings.password) == ("us@er", "p/w")
    assert (settings.host, settings.port, settings.database) == ("db.example", 3307, "jobs")
    assert (settings.namespace, settings.pool, settings.migrate) == ("shop", 3, False)
    assert (settings.patience, settings.timeout) == (1.0, 2.0)
    assert settings.socket == "/run/mysqld.sock"


def test_what_is_left_out() -> None:
    settings = parse("mariadb://me@/jobs")
    assert (settings.host, settings.port, settings.password) == ("localhost", 3306, "")
    assert (settings.namespace, settings.pool, settings.migrate) == ("windlass", 10, True)
    assert settings.tls is None


def test_an_ipv6_address_stands_in_brackets() -> None:
    assert parse("mysql://me@[::1]:3307/jobs").where == "MySQL at [::1]:3307"
    assert parse("mysql://me@[::1]/jobs").port == 3306


@pytest.mark.parametrize("scheme", ["mysql", "mariadb"])
def test_both_schemes_open_the_store(scheme: str) -> None:
    assert isinstance(open_store(f"{scheme}://me@localhost/jobs"), MysqlStore)


def test_tls_is_asked_for_by_name() -> None:
    assert parse("mysql://me@localhost/jobs?tls=on").tls is not None
    trusting = parse("mysql://me@localhost/jobs?tls=on&verify=no").tls
    assert trusting is not None and not trusting.check_hostname


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("mysql://localhost/jobs", "needs a user"),
        ("mysql://me@localhost", "names one database"),
        ("mysql://me@localhost/a/b", "names one database"),
        ("mysql://me@localhost:x/jobs", "A port"),
        ("mysql://me@localhost:99999/jobs", "A port"),
        ("mysql://me@::1/jobs", "in brackets"),
        ("mysql://me@[::1/jobs", r"like \[::1\]"),
        ("mysql://me:p/w@localhost/jobs", "percent-encoded"),
        ("mysql://me@localhost/jobs?poool=3", "did you mean pool"),
        ("mysql://me@localhost/jobs?colour=red", "Unknown setting colour"),
        ("mysql://me@localhost/jobs?pool=0", "from 1 to 1000"),
        ("mysql://me@localhost/jobs?pool=many", "number of connections"),
        ("mysql://me@localhost/jobs?migrate=no", "migrate is on or off"),
        ("mysql://me@localhost/jobs?namespace=My-App", "begins the names of tables"),
        ("mysql://me@localhost/jobs?timeout=soon", "number of seconds"),
        ("mysql://me@localhost/jobs?timeout=0.1", "at least 1 seconds"),
        ("mysql://me@localhost/jobs?patience=-1", "patience"),
        ("mysql://me@localhost/jobs?tls=maybe", "tls is on or off"),
        ("mysql://me@localhost/jobs?ca=/ca.pem", "needs tls=on"),
        ("mysql://me@localhost/jobs?tls=on&verify=maybe", "verify is yes or no"),
        ("mysql://me@localhost/jobs?tls=on&key=/k.pem", "needs cert"),
        ("mysql://me@localhost/jobs?tls=on&ca=/nowhere.pem", "cannot be used"),
    ],
)
def test_what_a_url_cannot_say(url: str, said: str) -> None:
    with pytest.raises(InvalidOption, match=said) as caught:
        parse(url)
    assert str(caught.value)[-1] in ".?"


def test_no_error_and_no_repr_shows_the_password() -> None:
    assert "secret" not in repr(parse("mysql://me:secret@localhost/jobs"))
    with pytest.raises(InvalidOption) as caught:
        parse("mysql://me:secret@localhost")
    assert "secret" not in str(caught.value)
