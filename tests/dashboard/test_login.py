"""Who may look, and who may do what."""

import re

from playwright.sync_api import expect

from tests.dashboard.conftest import Visit
from tests.dashboard.house import House

LATER = {"delay": 3600}


def test_a_key_opens_the_dashboard_and_its_role_says_what_is_offered(
    shop: House, visit: Visit
) -> None:
    id = shop.enqueue("greet", "Ada", using=LATER)
    reader, operator = shop.add_key("read", name="Kim"), shop.add_key("admin", name="Ada")
    screen = visit("ui/jobs", expected=["401"])
    field = screen.page.get_by_label("API key")
    expect(field).to_be_focused()
    field.fill("wrong")
    field.press("Enter")
    expect(screen.find("alert")).to_contain_text("The API key is wrong")
    field.fill(reader)
    field.press("Enter")
    screen.row("greet").wait_for()
    screen.page.get_by_text("Kim").wait_for()
    screen.offers()
    for path in (
        f"ui/jobs/{id}",
        "ui/queues",
        "ui/queues/mail",
        "ui/dead",
        "ui/cron",
        "ui/workers",
    ):
        screen.open(path)
        screen.offers()
    screen.click("Log out")
    field.fill(operator)
    screen.click("Log in")
    screen.goto(f"ui/jobs/{id}")
    screen.click("Cancel")
    screen.answer("Cancel the job")
    expect(screen.page.locator("h1 .state")).to_have_text("cancelled")
    # What a page could tell others, no script may read.
    assert screen.page.evaluate("document.cookie") == ""
    stored = screen.page.evaluate("JSON.stringify({...localStorage, ...sessionStorage})")
    assert operator not in stored


def test_a_key_without_the_right_to_look_is_told_so(shop: House, visit: Visit) -> None:
    key = shop.add_key("enqueue")
    screen = visit("", expected=["401"])
    screen.page.get_by_label("API key").fill(key)
    screen.click("Log in")
    screen.sees("This key may not look.")


def test_a_key_that_is_revoked_leads_back_to_the_login(shop: House, visit: Visit) -> None:
    shop.add_key("admin")
    key = shop.add_key("read", name="Kim")
    screen = visit("ui/queues", expected=["401"])
    screen.page.get_by_label("API key").fill(key)
    screen.click("Log in")
    screen.sees("No queue has been used yet.")
    shop.revoke("Kim")
    screen.page.keyboard.press("r")
    expect(screen.page.get_by_label("API key")).to_be_visible()
    assert re.search(r"ui/queues$", screen.path)
