"""What the pages say of MySQL is what the store does."""

import re
from collections.abc import Iterator
from importlib.resources import files

import pytest

from tests.conformance.stores import brief_checks
from tests.docs.pages import PAGES, ROOT, blocks, page, table
from tests.servers.mysql_client import fresh_database, query
from tests.servers.server import Server
from windlass.errors import InvalidOption
from windlass.stores.mysql import fold, horizon, watch
from windlass.stores.mysql.link import LOCK_WAIT, OLDEST_MARIADB, OLDEST_MYSQL
from windlass.stores.mysql.url import parse
from windlass.stores.open import open_store
from windlass.testing import suite
from windlass.testing.clock import START, FakeClock

HOWTO = "docs/howto/mysql.md"
EXPLAIN = "docs/explain/mysql.md"
THEMES = {"claim", "delete", "elect", "find", "lease", "pause", "reschedule", "unique", "workers"}
NO_DEFAULT = {"socket", "ca", "cert", "key"}
CLEAR = [
    f"DELETE FROM windlass_{name}"
    for name in (
        *("jobs", "finished", "deltas", "paused", "workers", "terms"),
        "counts WHERE queue <> ''",
    )
]


def urls() -> Iterator[str]:
    """Every URL of a MySQL on any page that names a host."""
    for path in PAGES:
        yield from re.findall(r"\b(?:mysql|mariadb)://[\w:@/.,?=&-]*\w", path.read_text("utf-8"))


@pytest.mark.parametrize("url", sorted(set(urls())))
def test_every_url_can_be_read(url: str) -> None:
    parse(url)


def test_every_setting_is_listed_with_its_default() -> None:
    rows = table(page("docs/reference/stores.md"), "### MySQL and MariaDB")
    listed = {row[0].strip("`"): row[1].strip("`") for row in rows}
    with pytest.raises(InvalidOption) as caught:
        parse("mysql://me@localhost/shop?zzzzzz=1")
    known = str(caught.value).rpartition("known are ")[2].rstrip(".").split(", ")
    assert list(listed) == known
    assert {name for name, default in listed.items() if not default} == NO_DEFAULT
    made = parse("mysql://me@localhost/shop")
    assert (listed["namespace"], listed["pool"]) == (made.namespace, str(made.pool))
    assert (listed["patience"], listed["timeout"]) == (f"{made.patience:g}", f"{made.timeout:g}")
    assert listed["connect_timeout"] == f"{made.connect_timeout:g}"
    assert (made.migrate, made.tls) == (True, None)


def test_every_table_is_explained() -> None:
    rows = table(page(EXPLAIN), "## What is stored where")
    folder = files("windlass.stores.mysql") / "migrations"
    text = "\n".join(file.read_text("utf-8") for file in folder.iterdir())
    made = set(re.findall(r"CREATE TABLE IF NOT EXISTS (\w+)", text)) | {"windlass_migrations"}
    assert {row[0].strip("`") for row in rows} == made


def test_the_numbers_on_the_pages_are_those_of_the_code() -> None:
    assert (watch.FIRST_NAP, watch.LONGEST_NAP) == (0.005, 0.2)
    assert (horizon.SOON, horizon.LATE) == (0.1, 2.0)
    assert (fold.OFTEN, LOCK_WAIT) == (256, 10)
    assert (OLDEST_MYSQL, OLDEST_MARIADB) == ((8, 0, 11), (10, 6, 0))


def statements(path: str) -> list[str]:
    """The SQL on a page."""
    found = [block.text for block in blocks(ROOT / path) if block.language == "sql"]
    return [each.strip() for text in found for each in text.split(";") if each.strip()]


async def test_the_rights_on_the_page_are_enough(mariadb_server: Server) -> None:
    url = fresh_database(mariadb_server.url, "shop")
    made = open_store(url)
    await made.open()
    await made.close()
    [grant] = statements(HOWTO)
    query(url, "CREATE OR REPLACE USER shop@'%'", grant)
    passed = 0
    clock = FakeClock()
    store = open_store(f"{url.replace('windlass@', 'shop@')}?migrate=off", clock=clock)
    await store.open()
    try:
        for check in suite.checks():
            if check.theme in THEMES and f"{check.theme}_{check.name}" in brief_checks():
                clock.now = START
                await check.run(store, clock, store)
                query(url, "USE shop", *CLEAR)
                passed += 1
    finally:
        await store.close()
    assert passed > 30


def test_the_queries_on_the_page_can_be_asked(mariadb_server: Server) -> None:
    asked = statements(EXPLAIN)
    assert len(asked) == 2
    for statement in asked:
        query(mariadb_server.url, statement)
