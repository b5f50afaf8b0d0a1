"""What the pages say of PostgreSQL is what the store does."""

import re
from collections.abc import Iterator
from importlib.resources import files

import asyncpg
import pytest

from tests.conformance.stores import brief_checks
from tests.docs.pages import PAGES, ROOT, blocks, page, table
from tests.servers.server import Server
from windlass.errors import InvalidOption
from windlass.stores.open import open_store
from windlass.stores.postgres.url import parse
from windlass.testing import suite
from windlass.testing.clock import START, FakeClock

HOWTO = ROOT / "docs" / "howto" / "postgres.md"
EXPLAIN = ROOT / "docs" / "explain" / "postgres.md"
THEMES = {"claim", "delete", "elect", "find", "lease", "pause", "reschedule", "unique", "workers"}
CLEAR_COUNTS = "DELETE FROM jobs.windlass_counts WHERE queue <> ''"
OF_THE_DRIVER = {"host", "user", "password", "passfile", "sslrootcert", "sslcert", "sslkey"}


def urls() -> Iterator[str]:
    """Every URL of a PostgreSQL on any page."""
    for path in PAGES:
        yield from re.findall(r"\bpostgres(?:ql)?://[\w:@/.,?=&-]*\w", path.read_text("utf-8"))


@pytest.mark.parametrize("url", sorted(set(urls())))
def test_every_url_can_be_read(url: str) -> None:
    parse(url)


def test_every_setting_is_listed_with_its_default() -> None:
    rows = table(page("docs/reference/stores.md"), "### PostgreSQL")
    listed = {row[0].strip("`"): row[1].strip("`") for row in rows}
    with pytest.raises(InvalidOption) as caught:
        parse("postgresql://localhost?zzzzzz=1")
    known = str(caught.value).rpartition("known are ")[2].rstrip(".").split(", ")
    assert list(listed) == known
    assert {name for name, default in listed.items() if not default} == OF_THE_DRIVER | {"schema"}
    made = parse("postgresql://localhost")
    assert (listed["pool"], listed["migrate"]) == (f"{made.pool}", "on" if made.migrate else "off")
    assert (listed["patience"], listed["timeout"]) == (f"{made.patience:g}", f"{made.timeout:g}")
    assert (made.listen, made.pooler) == (None, None)
    assert (listed["listen"], listed["pooler"]) == ("auto", "auto")


def test_every_table_is_explained() -> None:
    rows = table(EXPLAIN.read_text("utf-8"), "## What is stored where")
    folder = files("windlass.stores.postgres") / "migrations"
    text = "\n".join(file.read_text("utf-8") for file in folder.iterdir())
    made = set(re.findall(r"CREATE TABLE (\w+)", text)) | {"windlass_migrations"}
    assert {row[0].strip("`") for row in rows} == made
    assert all(f"`{name}`" in EXPLAIN.read_text() for name in re.findall(r"SEQUENCE (\w+)", text))


def statements(path: str) -> list[str]:
    """The SQL on a page."""
    found = [block.text for block in blocks(ROOT / path) if block.language == "sql"]
    return [each.strip() for text in found for each in text.split(";") if each.strip()]


async def test_the_rights_on_the_page_are_enough(postgres_server: Server) -> None:
    owner = await asyncpg.connect(postgres_server.url)
    for statement in (
        *("DROP SCHEMA IF EXISTS jobs CASCADE", "DROP ROLE IF EXISTS shop"),
        "CREATE ROLE shop LOGIN",
    ):
        await owner.execute(statement)
    made = open_store(f"{postgres_server.url}?schema=jobs")
    await made.open()
    await made.close()
    grants = statements("docs/howto/postgres.md")
    assert len(grants) == 3
    for grant in grants:
        await owner.execute(grant)
    url = postgres_server.url.replace("windlass@", "shop@") + "?schema=jobs&migrate=off"
    tables = await owner.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'jobs'")
    names = {name for (name,) in tables} - {"windlass_migrations", "windlass_counts"}
    clear = [*(f"DELETE FROM jobs.{name}" for name in names), CLEAR_COUNTS]
    passed = 0
    clock = FakeClock()
    store = open_store(url, clock=clock)
    await store.open()
    try:
        for check in suite.checks():
            if check.theme in THEMES and f"{check.theme}_{check.name}" in brief_checks():
                clock.now = START
                await check.run(store, clock, store)
                await owner.execute(";".join(clear))
                passed += 1
    finally:
        await store.close()
    assert passed > 30
    for statement in ("DROP SCHEMA jobs CASCADE", "DROP ROLE shop"):
        await owner.execute(statement)
    await owner.close()


async def test_the_questions_to_the_server_can_be_asked(postgres_server: Server) -> None:
    connection = await asyncpg.connect(postgres_server.url)
    asked = statements("docs/explain/postgres.md")
    assert len(asked) == 2
    for query in asked:
        await connection.fetch(query)
    await connection.close()
