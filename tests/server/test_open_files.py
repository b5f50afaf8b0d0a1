"""Connections are held against the files that a process may have open."""

import asyncio
import logging
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.http.victim import Victim, attacked
from windlass.config import ServerSettings
from windlass.server import open_files
from windlass.server.open_files import SPARE, within_open_files

FILES = 256


def limited(monkeypatch: pytest.MonkeyPatch, soft: int, hard: int) -> list[int]:
    """A process with these limits; the soft ones that were set."""
    now = [soft]

    def set_limit(kind: int, wanted: tuple[int, int]) -> None:
        assert wanted[0] <= hard == wanted[1]
        now.append(wanted[0])

    monkeypatch.setattr(resource, "getrlimit", lambda kind: (now[-1], hard))
    monkeypatch.setattr(resource, "setrlimit", set_limit)
    monkeypatch.setattr(open_files, "_taken", lambda: 6)
    return now


def test_the_limit_is_raised_as_far_as_is_needed(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    limits = limited(monkeypatch, 1_024, 100_000)
    settings = ServerSettings(max_connections=10_000)
    assert within_open_files(settings) is settings
    # For each API.
    assert limits == [1_024, 20_000 + SPARE + 6]
    assert not caplog.records


def test_where_it_cannot_be_raised_fewer_connections_are_taken_and_it_is_said(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    limits = limited(monkeypatch, 100, 1_070)
    with caplog.at_level(logging.WARNING, "windlass"):
        assert within_open_files(ServerSettings(grpc_port=-1)).max_connections == 1_000
        assert within_open_files(ServerSettings()).max_connections == 500
    assert limits[-1] == 1_070
    assert [record.getMessage() for record in caplog.records] == [
        f"max_connections is {most} instead of 10000: this process may have 1070 files open "
        "(ulimit -n)"
        for most in (1_000, 500)
    ]


@pytest.fixture
def victim(tmp_path: Path) -> Iterator[Victim]:
    with attacked(tmp_path, files=FILES) as victim:
        yield victim


async def test_silent_connections_in_all_files_that_there_are_shut_nobody_out(
    victim: Victim,
) -> None:
    assert f"instead of 10000: this process may have {FILES} files open" in victim.log
    assert victim.log.count("WARNING") == 1
    opening = (asyncio.open_connection("127.0.0.1", victim.port) for _ in range(FILES))
    silent = await asyncio.gather(*opening)
    try:
        for _ in range(5):
            assert await victim.honest() < 10
        assert victim.files <= FILES - SPARE / 2
    finally:
        for _, writer in silent:
            writer.transport.abort()
    assert "Traceback" not in victim.log
