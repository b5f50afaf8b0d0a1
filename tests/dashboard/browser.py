"""One Chromium for the whole run, in a thread of its own.

Playwright keeps an event loop running in the thread that it is used from, in which no other test
could then run its own.
"""

import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    expect,
    sync_playwright,
)

T = TypeVar("T")

PATIENCE = 30.0
# The sandbox needs rights that tests do not have everywhere; the pages are our own.
FLAGS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]


class Chromium:
    """The browser; whatever is done with it is done by `run`."""

    def __init__(self, thread: ThreadPoolExecutor, browser: Browser) -> None:
        self._thread = thread
        self.browser = browser

    def run(self, function: Callable[..., T], *args: Any, **options: Any) -> T:
        """Call something in the thread that the browser belongs to."""
        return self._thread.submit(function, *args, **options).result()


def program() -> str:
    found = shutil.which("chromium")
    assert found, "The dashboard is tried in chromium: scripts/servers installs it."
    return found


@contextmanager
def chromium() -> Iterator[Chromium]:
    with ThreadPoolExecutor(1, "browser") as thread:
        play = thread.submit(sync_playwright().start).result()
        expect.set_options(timeout=PATIENCE * 1000)
        started = thread.submit(play.chromium.launch, executable_path=program(), args=FLAGS)
        browser = started.result()
        try:
            yield Chromium(thread, browser)
        finally:
            thread.submit(browser.close).result()
            thread.submit(play.stop).result()


class Watched:
    """A page, and everything that went wrong in it."""

    def __init__(
        self, browser: Browser, expected: Sequence[str], *, clock: bool = False, **options: Any
    ) -> None:
        self.context: BrowserContext = browser.new_context(**options)
        self.context.set_default_timeout(PATIENCE * 1000)
        self.page: Page = self.context.new_page()
        if clock:
            self.page.clock.install()
        self.faults: list[str] = []
        self._expected = expected
        self.page.on("pageerror", lambda error: self.faults.append(f"thrown: {error}"))
        self.page.on("console", self._hear)

    def _hear(self, said: ConsoleMessage) -> None:
        is_meant = any(part in said.text for part in self._expected)
        if said.type in ("error", "warning") and not is_meant:
            self.faults.append(said.text)

    def close(self) -> None:
        self.context.close()
