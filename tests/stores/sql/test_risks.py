"""What servers say of settings that could cost jobs. Those of the tests are set up to be quick."""

from tests.servers.mysql_client import query
from tests.servers.server import Server
from windlass.stores.open import open_store


async def test_postgres_that_does_not_wait_for_the_disk_is_a_risk(
    postgres_server: Server,
) -> None:
    store = open_store(f"{postgres_server.url}?schema=risks")
    await store.open()
    try:
        assert [risk for risk in await store.risks() if "fsync=off" in risk]
    finally:
        await store.close()


async def test_mariadb_that_does_not_write_each_commit_is_a_risk(
    mariadb_server: Server,
) -> None:
    told = "SELECT @@innodb_flush_log_at_trx_commit"
    ((before,),) = query(mariadb_server.url, told)
    store = open_store(mariadb_server.url)
    await store.open()
    try:
        for value in (1, 2):
            query(mariadb_server.url, f"SET GLOBAL innodb_flush_log_at_trx_commit = {value}")
            named = [risk for risk in await store.risks() if "innodb_flush_log" in risk]
            assert len(named) == (value != 1)
    finally:
        query(mariadb_server.url, f"SET GLOBAL innodb_flush_log_at_trx_commit = {before}")
        await store.close()
