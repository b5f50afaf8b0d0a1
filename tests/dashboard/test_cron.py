"""Schedules: run, paused, edited, added and removed."""

from playwright.sync_api import expect

from tests.dashboard.conftest import Visit
from tests.dashboard.house import House


def test_a_schedule_is_run_paused_and_edited(shop: House, visit: Visit) -> None:
    screen = visit("ui/cron", expected=["422"])
    row = screen.row("close_up")
    expect(row).to_contain_text("Europe/Berlin")
    screen.click("Run close_up now")
    screen.says("A job of close_up is enqueued.")
    screen.click("Pause close_up")
    expect(row).to_contain_text("paused")
    screen.click("Resume close_up")
    expect(row).not_to_contain_text("paused")
    screen.click("Edit close_up")
    field = screen.page.get_by_label("When", exact=True)
    field.fill("0 99 * * *")
    expect(screen.page.locator("dialog .wrong")).to_be_visible()
    field.fill("30 5 * * *")
    expect(screen.page.locator("dialog").get_by_role("status")).to_contain_text("05:30")
    screen.answer("Save")
    screen.says("close_up is changed.")
    expect(row).to_contain_text("30 5 * * *")


def test_a_schedule_is_added_and_removed(shop: House, visit: Visit) -> None:
    screen = visit("ui/cron")
    screen.click("Add a schedule")
    screen.page.get_by_label("Name", exact=True).fill("greeting")
    screen.page.get_by_label("Task", exact=True).fill("greet")
    screen.page.get_by_label("Arguments by position").fill('["Ada"]')
    screen.page.get_by_label("When", exact=True).fill("@every 2s")
    screen.answer("Add")
    row = screen.row("greeting")
    expect(row).to_contain_text("added")
    shop.wait_for_history(1)
    screen.page.keyboard.press("r")
    expect(row.locator(".state")).to_have_text("completed")
    screen.click("Remove greeting")
    screen.answer("Remove")
    screen.says("greeting is removed.")
    expect(row).to_have_count(0)
