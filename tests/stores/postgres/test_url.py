"""What a PostgreSQL URL can say, and one sentence for what it cannot."""

import pytest

from windlass.errors import InvalidOption
from windlass.stores.postgres.url import parse

PLAIN = "postgresql://user:secret@db.example:5433/shop"


def test_a_plain_url_goes_to_the_driver_as_it_is() -> None:
    made = parse(PLAIN)
    assert (made.dsn, made.where) == (PLAIN, "db.example:5433")
    assert (made.schema, made.migrate, made.pool, made.listen, made.pooler) == (
        *(None, True, 5),
        *(None, None),
    )


def test_the_short_scheme_means_the_same() -> None:
    assert parse("postgres://db/shop").dsn == "postgresql://db/shop"


def test_own_settings_are_kept_from_the_driver_and_its_own_are_passed_on() -> None:
    made = parse(f"{PLAIN}?schema=jobs&pool=9&listen=off&pooler=on&migrate=off&sslmode=require")
    assert made.dsn == f"{PLAIN}?sslmode=require"
    assert (made.schema, made.pool, made.listen, made.pooler, made.migrate) == (
        *("jobs", 9),
        *(False, True, False),
    )


def test_a_socket_and_several_hosts() -> None:
    assert parse("postgresql:///shop?host=/run/postgresql").where == "/run/postgresql"
    several = parse("postgresql://a:5432,b:5433/shop?target_session_attrs=read-write")
    assert several.where == "a:5432,b:5433"


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("shema=a", "did you mean schema"),
        ("zzzzzz=1", "known are schema, migrate"),
        ("schema=Shop", "small letters"),
        ("schema=1a", "small letters"),
        ("schema=a-b", "small letters"),
        ("schema=", "small letters"),
        ("pool=0", "from 1 to 1000"),
        ("pool=many", "from 1 to 1000"),
        ("migrate=auto", "on or off"),
        ("listen=perhaps", "on, off or auto"),
        ("pooler=1", "on, off or auto"),
        ("patience=long", "number of seconds"),
        ("timeout=0", "at least 0.05"),
        ("sslmode=always", "verify-full"),
        ("sslrootcert=/nowhere.pem", "names no file"),
    ],
)
def test_what_it_cannot_say(query: str, words: str) -> None:
    with pytest.raises(InvalidOption, match=words) as caught:
        parse(f"{PLAIN}?{query}")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("front", ["user:pa/ss@db/shop", "user:pa?ss@db/shop"])
def test_a_password_that_is_not_quoted(front: str) -> None:
    with pytest.raises(InvalidOption, match="percent-encoded") as caught:
        parse(f"postgresql://{front}")
    assert "ss@" not in str(caught.value)


def test_a_port_that_is_none() -> None:
    with pytest.raises(InvalidOption, match="1 to 65535"):
        parse("postgresql://db:port/shop")


def test_a_representation_shows_no_password() -> None:
    assert repr(parse(PLAIN)) == "<Settings db.example:5433>"
