"""A page of the dashboard, in the words of its tests."""

import re
from typing import Any, Literal

from playwright.sync_api import Locator, Page, Route, expect

from tests.dashboard.browser import Watched

CHANGES = re.compile(
    "Pause|Resume|Purge|Cancel|Replay|Delete|Reschedule|Priority|Signal|Edit|Run|Remove|Add|Quiet|Stop"
)
Role = Literal["button", "link", "row", "heading", "status", "dialog", "alert", "checkbox", "main"]


class Held:
    """Requests that are held up until a test lets them go on."""

    def __init__(self, page: Page, pattern: str) -> None:
        self._page = page
        self._pattern = pattern
        self.routes: list[Route] = []
        page.route(pattern, lambda route: self.routes.append(route))

    def take(self) -> Route:
        """The next of them."""
        while not self.routes:
            # The page goes on only while it is waited for.
            self._page.wait_for_timeout(10)
        return self.routes.pop(0)

    def end(self) -> None:
        self._page.unroute(self._pattern)


class Screen:
    """One page, and what somebody does with it."""

    def __init__(self, watched: Watched, base: str) -> None:
        self._watched = watched
        self.base = base

    @property
    def page(self) -> Page:
        return self._watched.page

    @property
    def faults(self) -> list[str]:
        return self._watched.faults

    def leave(self) -> None:
        self._watched.leave()

    def goto(self, path: str) -> None:
        self.page.goto(path if ":" in path[:8] else f"{self.base}/{path}")

    @property
    def path(self) -> str:
        """The address below the base."""
        return self.page.url.removeprefix(f"{self.base}/")

    def title(self, text: str) -> None:
        """The heading of the view is this."""
        expect(self.page.locator("h1")).to_contain_text(text)

    def find(self, role: Role, name: str | re.Pattern[str] = "", **options: Any) -> Locator:
        found = self.page.get_by_role(role, name=name or None, **options)
        return found

    def click(self, name: str, role: Role = "button", exact: bool = True) -> None:
        self.find(role, name, exact=exact).first.click()

    def row(self, text: str) -> Locator:
        return self.page.locator("[data-row]").filter(has_text=text)

    @property
    def rows(self) -> Locator:
        return self.page.locator("[data-row]")

    def fill(self, label: str, text: str) -> None:
        """Write into a field and leave it."""
        field = self.page.get_by_label(label, exact=True)
        field.fill(text)
        field.blur()

    def says(self, text: str | re.Pattern[str]) -> None:
        """A message says this."""
        expect(self.page.locator(".toasts")).to_contain_text(text)

    def sees(self, text: str | re.Pattern[str]) -> None:
        """The view has this somewhere."""
        expect(self.page.locator("main")).to_contain_text(text)

    def answer(self, name: str) -> None:
        """Press a button of the dialog."""
        dialog = self.page.locator("dialog[open]")
        dialog.get_by_role("button", name=name, exact=True).click()

    def offers(self, *names: str) -> None:
        """Of all buttons that change something, there are these."""
        found = self.page.locator("main").get_by_role("button", name=CHANGES).all_inner_texts()
        assert found == [*names]

    def hold(self, pattern: str) -> Held:
        """Hold up requests from now on."""
        return Held(self.page, pattern)

    def open(self, path: str) -> None:
        """Go there without loading the page anew; until another view is there, if it is another."""
        self.page.evaluate(
            """(path) => {
                const target = new URL(path, document.baseURI);
                if (target.pathname !== location.pathname)
                    for (const view of document.querySelectorAll(".view")) view.dataset.old = "";
                history.pushState(null, "", target);
                dispatchEvent(new PopStateEvent("popstate"));
            }""",
            path,
        )
        self.page.locator(".view:not([data-old]) .page-head, main > h1").first.wait_for()
        expect(self.page.locator("main .skeleton")).to_have_count(0)
