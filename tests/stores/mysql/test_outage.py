"""What an outage of MySQL has of its own; `tests/stores/sql` has what all engines have."""

import pytest

from tests.servers.server import Server
from tests.stores.mysql.site import emptied, opened
from windlass.errors import StoreUnavailable
from windlass.testing.jobs import new_job, put


async def test_a_server_that_hangs_is_given_up_after_the_timeout(
    mariadb_server: Server,
) -> None:
    async with opened(emptied(mariadb_server.url, patience="0", timeout="1")) as store:
        await put(store, "a")
        mariadb_server.freeze()
        try:
            with pytest.raises(StoreUnavailable, match="no answer in time"):
                await store.insert([new_job("b")])
        finally:
            mariadb_server.thaw()
        await put(store, "c")
        assert {"a", "c"} <= (await store.get(["a", "b", "c"])).keys()
