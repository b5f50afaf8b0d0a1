"""The last line of a run: how many tests, how long, and on which servers."""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import Any

import pytest

from tests.servers.versions import used

_KEY = "windlass_servers"


class Summary:
    """A plugin for pytest. With pytest-xdist, each worker process tells which servers it used."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._started = time.monotonic()
        self._servers: set[str] = set()

    def pytest_sessionfinish(self) -> None:
        self._servers |= used()
        if hasattr(self._config, "workeroutput"):
            self._config.workeroutput[_KEY] = sorted(self._servers)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self._servers |= set(getattr(node, "workeroutput", {}).get(_KEY, ()))

    def pytest_unconfigure(self) -> None:
        terminal = self._config.pluginmanager.get_plugin("terminalreporter")
        if terminal is not None and not hasattr(self._config, "workeroutput"):
            ran = sum(len(terminal.stats.get(kind, ())) for kind in ("passed", "failed", "xfailed"))
            if ran:
                terminal.write_line(told(ran, time.monotonic() - self._started, self._servers))


def told(ran: int, seconds: float, servers: Collection[str]) -> str:
    """The line, in words."""
    minutes, rest = divmod(round(seconds), 60)
    took = f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
    return f"{ran:,} tests ran in {took}, on {', '.join(sorted(servers)) or 'no server'}."
