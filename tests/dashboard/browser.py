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
    ConsoleMessage,
    Error,
    Page,
    expect,
    sync_playwright,
)

T = TypeVar("T")

PATIENCE = 30.0
# The sandbox needs rights that tests do not have everywhere; the pages are our own.
FLAGS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
# Each window starts three processes for what no test looks at: lists below its address bar, and a
# page that may come next. Chromium heeds the last such flag alone, so this has Playwright's, too.
UNUSED = (
    "SpareRendererForSitePerProcess,WebUIOmniboxPopup,WebUIOmniboxAimPopup,"
    "AvoidUnnecessaryBeforeUnloadCheckSync,DestroyProfileOnBrowserClose,HttpsUpgrades,"
    "HttpsFirstBalancedModeAutoEnable,MediaRouter,PaintHolding,ThirdPartyStoragePartitioning,"
    "AvoidCorsURLLoaderRestartOnRedirect,OptimizationHints,NetworkTimeServiceQuerying"
)
FLAGS.append(f"--disable-features={UNUSED}")

EMPTY = "http://127.0.0.1/empty"
"""Of the same site as the servers of the tests: the browser goes on with the same process."""

MEDIA = {"color_scheme": "light", "reduced_motion": "reduce"}
"""As a new page has them."""


class Chromium:
    """The browser; whatever is done with it is done by `run`."""

    def __init__(self, thread: ThreadPoolExecutor, browser: Browser) -> None:
        self._thread = thread
        self.pages = Pages(browser)

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


class KeptPage:
    """A page that one test after another has: a new one costs 1 s of CPU."""

    def __init__(self, browser: Browser) -> None:
        self.page = new_page(browser)
        self.is_taken = False
        self._wire = self.page.context.new_cdp_session(self.page)

    def clean(self) -> None:
        """Leave nothing of the last test but the files of the dashboard, in the cache."""
        self.page.unroute_all(behavior="ignoreErrors")
        self.page.route(EMPTY, lambda route: route.fulfill(body=""))
        self.page.goto(EMPTY)
        self.page.unroute_all()
        self.page.mouse.move(0, 0)
        self.page.context.clear_cookies()
        self._wire.send("Storage.clearDataForOrigin", {"origin": "*", "storageTypes": "all"})
        self._wire.send("Page.resetNavigationHistory")


class Pages:
    """Gives out pages."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._kept: KeptPage | None = None

    def take(self, *, fresh: bool = False, clock: bool = False, **options: Any) -> Page:
        """The kept page, or one of its own for who needs what it cannot be given."""
        kept = self._kept = self._kept or KeptPage(self._browser)
        if kept.is_taken or fresh or clock or options.keys() - MEDIA:
            page = new_page(self._browser, **options)
            if clock:
                page.clock.install()
            return page
        kept.is_taken = True
        kept.page.emulate_media(**MEDIA | options)
        return kept.page

    def give_back(self, page: Page) -> None:
        kept = self._kept
        if kept is None or page is not kept.page:
            page.context.close()
            return
        try:
            kept.clean()
            kept.is_taken = False
        except BaseException:
            self._kept = None
            page.context.close()
            raise


def new_page(browser: Browser, **options: Any) -> Page:
    """A page that shares nothing with others."""
    context = browser.new_context(**options)
    context.set_default_timeout(PATIENCE * 1000)
    return context.new_page()


class Watched:
    """A page, and everything that went wrong in it."""

    def __init__(self, page: Page, expected: Sequence[str]) -> None:
        self.page = page
        self.faults: list[str] = []
        self._expected = expected
        self.page.on("pageerror", self._catch)
        self.page.on("console", self._hear)

    def _catch(self, error: Error) -> None:
        self.faults.append(f"thrown: {error}")

    def _hear(self, said: ConsoleMessage) -> None:
        is_meant = any(part in said.text for part in self._expected)
        if said.type in ("error", "warning") and not is_meant:
            self.faults.append(said.text)

    def leave(self) -> None:
        """Hear nothing more of it."""
        self.page.remove_listener("pageerror", self._catch)
        self.page.remove_listener("console", self._hear)
