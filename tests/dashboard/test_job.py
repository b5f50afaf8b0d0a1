"""The page of one job: what it shows, and everything that can be done there."""

import re

from playwright.sync_api import expect

from tests.dashboard.conftest import Visit
from tests.dashboard.house import House
from windlass.core.states import State

LATER = {"delay": 3600}


def test_a_job_shows_what_it_carries_and_how_it_went(shop: House, visit: Visit) -> None:
    id = shop.enqueue("post", "nobody", {"gift": True}, using={"labels": {"tenant": "acme"}})
    shop.wait_for(State.DEAD, id)
    screen = visit(f"ui/jobs/{id}")
    screen.title("post")
    for text in ('"nobody",{"gift":true}', "tenant=acme", "nobody is no address", "Traceback"):
        screen.sees(text)
    attempt = screen.page.locator(".attempts li")
    expect(attempt).to_have_count(1)
    expect(attempt).to_contain_text("Attempt 1")
    expect(attempt).to_contain_text("nobody is looked up")


def test_a_running_job_is_followed_to_its_end(shop: House, visit: Visit) -> None:
    id = shop.enqueue("bake", 2)
    screen = visit(f"ui/jobs/{id}")
    expect(screen.page.get_by_role("progressbar")).to_have_attribute("value", "40")
    screen.sees("the dough rises")
    shop.open()
    expect(screen.page.locator("h1 .state")).to_have_text("completed")
    expect(screen.page.get_by_role("group", name="result")).to_have_text("bread")


def test_a_dead_job_is_replayed(shop: House, visit: Visit) -> None:
    (id,) = shop.dead("nobody")
    screen = visit(f"ui/jobs/{id}")
    screen.click("Replay")
    screen.says("The job runs again.")
    expect(screen.page.locator(".attempts li")).to_have_count(2)


def test_a_dead_job_is_edited_and_runs_as_a_new_one(shop: House, visit: Visit) -> None:
    (id,) = shop.dead("nobody")
    screen = visit(f"ui/jobs/{id}")
    screen.click("Edit and replay")
    field = screen.page.get_by_label("Arguments by position, a list")
    field.fill("[")
    screen.answer("Replay")
    expect(screen.find("alert")).to_contain_text("This is no JSON")
    field.fill('["somebody"]')
    screen.answer("Replay")
    expect(screen.page).not_to_have_url(re.compile(id))
    screen.sees("somebody is no address")
    assert shop.states(id) == [None]


def test_a_job_that_waits_gets_another_time_and_priority(shop: House, visit: Visit) -> None:
    id = shop.enqueue("greet", "Ada", using=LATER)
    screen = visit(f"ui/jobs/{id}")
    screen.sees("It waits for its time")
    screen.click("Priority")
    screen.page.get_by_label("Priority, 0 to 100").fill("91")
    screen.answer("Change")
    screen.says("The job has the priority 91.")
    screen.click("Reschedule")
    screen.page.get_by_label("In", exact=True).fill("0")
    screen.answer("Reschedule")
    screen.says("The job has another time.")
    expect(screen.page.locator("h1 .state")).to_have_text("completed")


def test_a_job_is_cancelled_and_deleted(shop: House, visit: Visit) -> None:
    id = shop.enqueue("greet", "Ada", using=LATER)
    screen = visit(f"ui/jobs/{id}")
    screen.click("Cancel")
    screen.answer("Keep as it is")
    assert shop.states(id) == [State.SCHEDULED]
    screen.click("Cancel")
    screen.answer("Cancel the job")
    expect(screen.page.locator("h1 .state")).to_have_text("cancelled")
    screen.click("Delete")
    screen.answer("Delete the job")
    expect(screen.page).to_have_url(re.compile(r"ui/jobs$"))
    assert shop.states(id) == [None]


def test_a_signal_reaches_the_job_that_waits_for_it(shop: House, visit: Visit) -> None:
    id = shop.enqueue("refund", 7)
    screen = visit(f"ui/jobs/{id}")
    screen.sees("approved")
    screen.click("Signal")
    expect(screen.page.get_by_label("Name")).to_have_value("approved")
    screen.page.get_by_label("Value, as JSON").fill('"Ada"')
    screen.answer("Send")
    expect(screen.page.get_by_role("group", name="result")).to_have_text("refunded by Ada")


def test_a_job_that_is_gone_is_found_in_the_history(shop: House, visit: Visit) -> None:
    screen = visit("ui/history", expected=["404"])
    (id,) = shop.dead("nobody")
    shop.wait_for_history(1)
    shop.delete(id)
    screen.goto(f"ui/jobs/{id}")
    screen.sees(f"There is no job {id}.")
    screen.click("Look in the history", "link")
    screen.title("post")
    screen.sees("nobody is no address")
    screen.sees("Attempt 1")
