"""A page on the dashboard of a running house, for each test."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.dashboard.browser import Chromium, Watched, chromium
from tests.dashboard.house import House, house
from tests.dashboard.screen import Screen
from tests.servers.ports import free_port

Visit = Callable[..., Screen]


@pytest.fixture(scope="session")
def browser() -> Iterator[Chromium]:
    with chromium() as found:
        yield found


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that has a page in the thread of the browser."""
    found = pyfuncitem.funcargs.get("browser")
    if not isinstance(found, Chromium):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    found.run(pyfuncitem.obj, **{name: pyfuncitem.funcargs[name] for name in names})
    return True


@pytest.fixture(scope="session")
def port() -> int:
    """Where all servers listen, one after another: the browser knows their scripts from before."""
    return free_port()


@pytest.fixture
def shop(tmp_path: Path, port: int) -> Iterator[House]:
    """A server and a worker that end with the test."""
    with house(tmp_path, http_port=port) as made:
        yield made


@pytest.fixture
def visit(browser: Chromium, shop: House) -> Iterator[Visit]:
    """Opens pages; at the end nothing may have gone wrong in any of them but what is expected."""
    opened: list[Screen] = []

    def visit(
        path: str = "", *, base: str = "", expected: Sequence[str] = (), **options: Any
    ) -> Screen:
        watched = Watched(browser.pages.take(**options), expected)
        screen = Screen(watched, base or shop.url)
        opened.append(screen)
        screen.goto(path)
        return screen

    yield visit
    faults = [fault for screen in opened for fault in screen.faults]
    for screen in opened:
        browser.run(screen.leave)
        browser.run(browser.pages.give_back, screen.page)
    assert not faults
