"""The list of jobs: filters, pages, and what is done with many."""

import re

import pytest
from playwright.sync_api import expect

from tests.dashboard.conftest import Visit
from tests.dashboard.house import House
from windlass.admin import scan
from windlass.core.states import State

LATER = {"delay": 3600}


def test_a_filter_is_in_the_address_and_can_be_shared(shop: House, visit: Visit) -> None:
    id = shop.enqueue("greet", "Ada", using=LATER)
    shop.dead("nobody")
    screen = visit("ui/jobs")
    expect(screen.rows).to_have_count(2)
    expect(screen.row("greet")).to_contain_text('"Ada"')
    screen.click("dead", exact=False)
    expect(screen.rows).to_have_count(1)
    screen.fill("Task", "post")
    expect(screen.page).to_have_url(re.compile(r"ui/jobs\?state=dead&task=post$"))
    other = visit(screen.path)
    expect(other.rows).to_have_count(1)
    expect(other.row("post")).to_contain_text("nobody is no address")
    screen.page.go_back()
    screen.page.go_back()
    expect(screen.rows).to_have_count(2)
    screen.fill("Id", id)
    screen.title("greet")


def test_jobs_are_found_by_argument_error_label_and_worker(shop: House, visit: Visit) -> None:
    shop.enqueue("greet", "Ada", using=LATER | {"labels": {"tenant": "acme"}})
    shop.enqueue("greet", "Grace", using=LATER)
    shop.dead("nowhere")
    screen = visit("ui/jobs")
    screen.click("More filters")
    for field, text, found in (
        ("Argument", "name=Grace", "greet"),
        ("Label", "tenant=acme", "tenant=acme"),
        ("Error", "no address", "nowhere is no address"),
    ):
        screen.fill(field, text)
        expect(screen.rows).to_have_count(1)
        expect(screen.rows.first).to_contain_text(found)
        screen.click("Clear")
        expect(screen.rows).to_have_count(3)
    screen.fill("Error", "no such words")
    screen.sees("No job matches this filter.")


def test_pages_follow_each_other(shop: House, visit: Visit) -> None:
    shop.enqueue_many("greet", [(f"guest {n}",) for n in range(60)], using=LATER)
    screen = visit("ui/jobs?state=scheduled")
    expect(screen.rows).to_have_count(50)
    screen.sees("50 shown of 60")
    screen.rows.first.get_by_role("checkbox").click()
    screen.click("Next page", "link")
    expect(screen.rows).to_have_count(10)
    screen.sees("1 job selected")
    expect(screen.find("button", "Cancel", exact=True)).to_be_enabled()
    screen.click("First page", "link")
    expect(screen.rows).to_have_count(50)


def test_a_search_goes_on_until_its_page_is_full_or_it_is_stopped(
    shop: House, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    # One look for each answer, at as many jobs as a page has.
    monkeypatch.setattr(scan, "MOST_LOOKS", 1)
    shop.enqueue_many("greet", [(f"guest {n}",) for n in range(120)], using=LATER)
    shop.enqueue("greet", "Ada", using={"delay": 7200, "labels": {"tenant": "acme"}})
    screen = visit("ui/jobs?label=tenant%3Dacme")
    expect(screen.rows).to_have_count(1)
    screen.sees("1 shown, 121 looked at")
    expect(screen.find("button", "Follow changes")).to_be_disabled()
    held = screen.hold("**/api/v1/jobs?*")
    screen.click("Refresh")
    held.take().continue_()
    screen.sees("50 of 121 looked at, 0 found")
    screen.click("Stop")
    held.take().continue_()
    screen.sees("None so far.")
    held.end()
    screen.click("Go on from here", "link")
    expect(screen.rows).to_have_count(1)


def test_selected_jobs_are_cancelled(shop: House, visit: Visit) -> None:
    ids = shop.enqueue_many("greet", [(str(n),) for n in range(4)], using=LATER)
    screen = visit("ui/jobs?state=scheduled")
    boxes = screen.rows.get_by_role("checkbox")
    boxes.nth(0).click()
    boxes.nth(2).click(modifiers=["Shift"])
    screen.sees("3 jobs selected")
    screen.click("Cancel")
    screen.answer("Cancel 3 jobs")
    screen.page.get_by_text("3 jobs cancelled.").wait_for()
    screen.answer("Close")
    expect(screen.rows).to_have_count(1)
    assert sorted(map(str, shop.states(*ids))) == ["cancelled"] * 3 + ["scheduled"]


def test_all_that_match_are_changed_beyond_the_page(shop: House, visit: Visit) -> None:
    many = shop.enqueue_many("greet", [(f"guest {n}",) for n in range(70)], using=LATER)
    other = shop.enqueue("count", "shelf", using=LATER)
    screen = visit("ui/jobs?state=scheduled&task=greet")
    screen.page.get_by_label("Select all on this page").check()
    screen.click("Select all that match the filter")
    screen.click("Delete")
    screen.answer("Delete all jobs that match")
    screen.page.get_by_text("70 jobs deleted.").wait_for()
    screen.answer("Close")
    screen.sees("No job matches this filter.")
    assert {*shop.states(*many)} == {None}
    assert shop.states(other) == [State.SCHEDULED]


def test_a_change_of_many_can_be_stopped(shop: House, visit: Visit) -> None:
    ids = shop.enqueue_many("greet", [(str(n),) for n in range(3)], using=LATER)
    screen = visit("ui/jobs?state=scheduled&task=greet")
    # A round that is held up, so that there is time to stop before the next one.
    held = screen.hold("**/jobs/bulk")
    screen.page.get_by_label("Select all on this page").check()
    screen.click("Select all that match the filter")
    screen.click("Cancel")
    screen.answer("Cancel all jobs that match")
    screen.answer("Stop")
    round = {"changed": 1, "left": 0, "more": True, "cursor": "next", "looked_at": 1, "of": 3}
    held.take().fulfill(json=round | {"refused": {}})
    screen.page.get_by_text("Stopped.").wait_for()
    assert held.routes == []
    screen.answer("Close")
    assert {*shop.states(*ids)} == {State.SCHEDULED}


def test_many_are_rescheduled_and_get_another_priority(shop: House, visit: Visit) -> None:
    shop.enqueue_many("greet", [(str(n),) for n in range(2)], using=LATER)
    screen = visit("ui/jobs?state=scheduled")
    screen.page.get_by_label("Select all on this page").check()
    screen.click("Change priority")
    screen.page.get_by_label("Priority, 0 to 100").fill("90")
    screen.answer("Change")
    screen.page.get_by_text("2 jobs changed.").wait_for()
    screen.answer("Close")
    expect(screen.row("90")).to_have_count(2)
    screen.page.get_by_label("Select all on this page").check()
    screen.click("Reschedule")
    screen.page.get_by_label("Unit").select_option("days")
    screen.answer("Reschedule")
    screen.page.get_by_text("2 jobs rescheduled.").wait_for()
    screen.answer("Close")
    expect(screen.row("in 4 d")).to_have_count(2)


def test_a_new_job_shows_up_by_itself(shop: House, visit: Visit) -> None:
    screen = visit("ui/jobs", clock=True)
    screen.sees("There are no jobs.")
    shop.enqueue("greet", "Ada", using=LATER)
    expect(screen.rows).to_have_count(1)
    screen.click("Follow changes")
    held = screen.hold("**/api/v1/jobs?*")
    shop.enqueue("greet", "Grace", using=LATER)
    expect(screen.find("button", "scheduled 2")).to_be_visible()
    screen.page.clock.run_for(60_000)
    assert held.routes == []
    screen.click("Refresh")
    held.take().continue_()
    expect(screen.rows).to_have_count(2)


def test_what_is_being_written_is_not_overwritten_by_news(shop: House, visit: Visit) -> None:
    screen = visit("ui/jobs")
    screen.sees("There are no jobs.")
    field = screen.page.get_by_label("Task", exact=True)
    field.press_sequentially("gre")
    shop.enqueue("greet", "Ada", using=LATER)
    expect(screen.rows).to_have_count(1)
    field.press_sequentially("et")
    field.press("Enter")
    expect(screen.page).to_have_url(re.compile(r"task=greet$"))
