"""Asking for risks leaves nothing to be warned of."""

import warnings

from tests.servers.server import Server
from tests.stores.mysql.site import emptied, opened


async def test_no_warning_comes_of_the_question(mariadb_server: Server) -> None:
    async with opened(emptied(mariadb_server.url)) as store:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            [risk] = await store.risks()
        assert "innodb_flush_log_at_trx_commit=2" in risk
        assert [str(each.message) for each in told] == []
        async with store._mysql._pool.link() as link:  # type: ignore[union-attr]
            query = store._mysql.queries["risks"]
            assert not (await link.ask([query, "SHOW WARNINGS"]))[1].rows
