"""The last line of a run."""

from tests.servers import versions
from tests.servers.server import Server
from tests.summary import told


def test_it_says_how_many_tests_ran_how_long_and_on_what() -> None:
    line = told(15_320, 362.4, {"Redis 7.0.15", "MariaDB 10.11"})
    assert line == "15,320 tests ran in 6 min 02 s, on MariaDB 10.11, Redis 7.0.15."


def test_it_says_that_no_server_was_needed() -> None:
    assert told(3, 0.4, ()) == "3 tests ran in 0 s, on no server."


def test_a_server_that_was_started_is_among_those_used(redis_server: Server) -> None:
    assert redis_server.is_running
    assert any(name.startswith("Redis ") for name in versions.used())
