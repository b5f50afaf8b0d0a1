"""The search in the history."""

from playwright.sync_api import expect

from tests.dashboard.conftest import Visit
from tests.dashboard.house import House
from windlass.core.states import State


def test_jobs_of_the_past_are_searched_and_shown(shop: House, visit: Visit) -> None:
    screen = visit("ui/history")
    screen.sees("Nothing was found.")
    shop.dead("nobody")
    shop.wait_for(State.COMPLETED, shop.enqueue("greet", "Ada"))
    shop.wait_for_history(2)
    screen.page.reload()
    expect(screen.rows).to_have_count(2)
    screen.fill("Error", "no address")
    expect(screen.rows).to_have_count(1)
    screen.click("post", "link")
    screen.title("post")
    screen.sees("Attempt 1")
    screen.page.go_back()
    screen.click("completed")
    screen.sees("Nothing was found.")
