"""The connection: its state is seen, it comes back, and it rests while nobody looks."""

from playwright.sync_api import Page, Route, expect

from tests.dashboard.conftest import Visit
from tests.dashboard.house import House

LATER = {"delay": 3600}
AWAY = ("ERR_CONNECTION", "ERR_INCOMPLETE", "ERR_EMPTY", "503")


def test_a_restart_of_the_server_is_survived_without_a_reload(shop: House, visit: Visit) -> None:
    shop.enqueue("greet", "Ada", using=LATER)
    screen = visit("ui/jobs", expected=AWAY)
    status = screen.page.locator(".link")
    expect(status).to_have_text("Live")
    expect(screen.row("greet")).to_have_count(1)
    screen.page.evaluate("window.kept = 1")
    shop.stop_server()
    expect(status).to_have_text("Offline")
    expect(screen.row("greet")).to_have_count(1)
    screen.page.keyboard.press("r")
    screen.sees("Not up to date: The server cannot be reached.")
    shop.start_server()
    expect(status).to_have_text("Live")
    shop.enqueue("greet", "Grace", using=LATER)
    expect(screen.row("greet")).to_have_count(2)
    assert screen.page.evaluate("window.kept") == 1


def test_a_view_that_cannot_be_loaded_says_so_and_can_be_tried_again(
    shop: House, visit: Visit
) -> None:
    screen = visit("", expected=["500"])
    expect(screen.page.locator(".link")).to_have_text("Live")
    refused = {"status": 500, "json": {"detail": "The store has a cold.", "error": "ServerError"}}
    screen.page.route("**/api/v1/dead/groups*", lambda route: route.fulfill(**refused))
    screen.click("Dead", "link")
    expect(screen.find("alert")).to_contain_text("The store has a cold.")
    screen.page.unroute("**/api/v1/dead/groups*")
    screen.click("Try again")
    screen.sees("No job is dead.")


def test_nothing_is_asked_for_while_nobody_looks(shop: House, visit: Visit) -> None:
    screen = visit("ui/workers", clock=True)
    expect(screen.page.locator(".link")).to_have_text("Live")
    screen.sees("Heard of")
    look_away(screen.page, True)
    expect(screen.page.locator(".link")).to_have_text("Paused")
    # Counted in the page: of what was asked before, the browser may tell later.
    screen.page.evaluate(
        """() => {
            const ask = fetch;
            window.asked = [];
            window.fetch = (...about) => (asked.push(String(about[0])), ask(...about));
        }"""
    )
    screen.page.clock.run_for(60_000)
    assert screen.page.evaluate("asked") == []
    with screen.page.expect_request("**/api/v1/workers"):
        look_away(screen.page, False)
    expect(screen.page.locator(".link")).to_have_text("Live")


def test_news_do_not_call_off_a_question_that_takes_long(shop: House, visit: Visit) -> None:
    screen = visit("", clock=True)
    expect(screen.page.locator(".link")).to_have_text("Live")
    held = screen.hold("**/api/v1/jobs?*")
    screen.click("Jobs", "link", exact=False)
    for number in (1, 2):
        shop.enqueue("greet", "Ada", using=LATER)
        expect(screen.find("button", f"scheduled {number}")).to_be_visible()
        screen.page.clock.run_for(5_000)
    held.take().continue_()
    assert held.routes == []
    expect(screen.rows).not_to_have_count(0)


def test_a_page_of_another_version_is_asked_to_reload(shop: House, visit: Visit) -> None:
    screen = visit("", expected=AWAY)
    expect(screen.page.locator(".link")).to_have_text("Live")
    shop.stop_server()
    expect(screen.page.locator(".link")).to_have_text("Offline")

    def newer(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, json=answer.json() | {"version": "99.0"})

    screen.page.route("**/api/v1/me", newer)
    shop.start_server()
    screen.sees("The server was updated.")


def look_away(page: Page, away: bool) -> None:
    """Hide the page, or show it again; a browser without windows cannot do that by itself."""
    page.evaluate(
        """(away) => {
            Object.defineProperty(document, "hidden", { value: away, configurable: true });
            document.dispatchEvent(new Event("visibilitychange"));
        }""",
        away,
    )
