"""What the pages say of Redis is what the store does."""

import re
from collections.abc import Iterator
from secrets import token_hex

import pytest

from tests.conformance.stores import brief_checks
from tests.docs.pages import PAGES, ROOT, blocks, page, table
from tests.servers.redis import tell
from tests.servers.redis_cluster import Cluster
from tests.servers.server import Server
from windlass.errors import InvalidOption
from windlass.stores.open import open_store
from windlass.stores.redis.keys import FIXED
from windlass.stores.redis.url import SCHEMES, parse
from windlass.testing import suite
from windlass.testing.clock import FakeClock

HOWTO = ROOT / "docs" / "howto" / "redis.md"
LUA = ROOT / "src" / "windlass" / "stores" / "redis" / "lua"
OTHER_KEYS = {
    *("line:QUEUE", "later:QUEUE", "token:WORKER"),
    *("attempts:ID", "stats:STEP:TIME:QUEUE", "tallied:WORKER"),
    *("schedules", "ticks", "keys", "partitions", "workers", "heard", "orders", "terms", "proof"),
}
OUTSIDE_OF_SCRIPTS = {
    *("evalsha", "script|load", "ping", "select", "subscribe", "time", "info"),
    *("client|setname", "client|info", "client|kill"),
    *("hget", "hset", "hsetnx", "hmget", "hgetall", "hvals", "hscan", "zscan", "hdel", "xrange"),
    *("role", "cluster|slots", "asking", "wait"),
}
THEMES = {
    "attempts",
    "checkpoint",
    "claim",
    "delete",
    "dependents",
    "elect",
    "find",
    "journal",
    "lease",
    "orders",
    "pause",
    "prioritize",
    "reschedule",
    "restore",
    "schedules",
    "stats",
    "unique",
    "wait",
    "workers",
}
NO_DEFAULT = {
    *("partitions", "credentials", "addresses", "sentinel_username", "sentinel_password"),
    *("sentinel_tls", "sentinel_ca", "sentinel_cert", "sentinel_key", "ca", "cert", "key"),
}


def urls() -> Iterator[str]:
    """Every URL of a Redis on any page that names a host."""
    for path in PAGES:
        yield from re.findall(
            r"\b(?:redis|valkey)s?(?:\+\w+)?://[\w:@/.,?=&-]*\w", path.read_text("utf-8")
        )


@pytest.mark.parametrize("url", sorted(set(urls())))
def test_every_url_can_be_read(url: str) -> None:
    # The file is not there; all before it must be right.
    parse(url.partition("?ca=")[0])


def test_every_scheme_is_named_or_follows_from_the_rule() -> None:
    text = page("docs/reference/stores.md")
    plain = {scheme for scheme in SCHEMES if scheme.startswith("redis")}
    assert {scheme for scheme in plain if f"`{scheme}://" in text} == plain
    assert {scheme.replace("valkey", "redis") for scheme in SCHEMES} == plain


def test_every_setting_is_listed_with_its_default() -> None:
    rows = table(page("docs/reference/stores.md"), "### Redis and Valkey")
    listed = {row[0].strip("`"): row[1].strip("`") for row in rows}
    with pytest.raises(InvalidOption) as caught:
        parse("redis://localhost?zzzzzz=1")
    known = str(caught.value).rpartition("known are ")[2].rstrip(".").split(", ")
    assert list(listed) == known
    assert {name for name, default in listed.items() if not default} == NO_DEFAULT
    made = parse("redis://localhost")
    assert listed["namespace"] == made.namespace
    assert (listed["patience"], listed["timeout"]) == (f"{made.patience:g}", f"{made.timeout:g}")
    assert listed["connect_timeout"] == f"{made.connect_timeout:g}"
    assert listed["connections"] == str(made.connections)
    assert parse("rediss://localhost?verify=yes").tls is not None


def test_every_key_is_explained() -> None:
    rows = table(page("docs/explain/redis.md"), "## What is stored where")
    listed = {name for row in rows for name in re.findall(r"`([\w:]+)`", row[0])}
    assert set(FIXED) | OTHER_KEYS == listed


def rule() -> list[str]:
    """The rights of the user on the page, as words of `ACL SETUSER`."""
    [text] = [block.text for block in blocks(HOWTO) if "ACL SETUSER" in block.text]
    words = text.split()
    assert words[:3] == ["ACL", "SETUSER", "shop"]
    return words[3:]


def in_scripts() -> set[str]:
    text = "\n".join(path.read_text("utf-8") for path in sorted(LUA.rglob("*.lua")))
    calls = re.findall(r"(?:redis\.p?call|variadic)\('(\w+)'", text)
    assert len(calls) > 50
    return {command.lower() for command in calls}


def test_the_user_on_the_page_may_do_what_is_done_and_no_more() -> None:
    granted = {word[1:] for word in rule() if word.startswith("+")}
    assert granted == in_scripts() | OUTSIDE_OF_SCRIPTS


@pytest.fixture(params=["redis_server", "redis_old", "redis_cluster"])
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    """A URL that logs in as that user, on servers that know no script yet."""
    engine: Server | Cluster = request.getfixturevalue(request.param)
    nodes = [engine] if isinstance(engine, Server) else engine.nodes
    for node in nodes:
        tell(node.port, "ACL", "SETUSER", "shop", *rule())
        tell(node.port, "SCRIPT", "FLUSH")
    scheme, _, rest = engine.url.partition("://")
    yield f"{scheme}://shop:secret@{rest.removesuffix('/0')}"
    for node in nodes:
        tell(node.port, "ACL", "DELUSER", "shop")


async def test_the_user_on_the_page_may_do_enough(url: str) -> None:
    passed = 0
    for check in suite.checks():
        if check.theme in THEMES and f"{check.theme}_{check.name}" in brief_checks():
            clock = FakeClock()
            separator = "/1?" if url.startswith("redis://") else "?"
            store = open_store(f"{url}{separator}namespace=windlass:{token_hex(4)}", clock=clock)
            await store.open()
            try:
                await check.run(store, clock, store)
            finally:
                await store.close()
            passed += 1
    assert passed > 50
