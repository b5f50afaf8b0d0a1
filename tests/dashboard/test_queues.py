"""Queues, and what can be done with one."""

from playwright.sync_api import expect

from tests.dashboard.conftest import Visit
from tests.dashboard.house import House
from windlass.core.states import State

LATER = {"delay": 3600}


def test_a_queue_is_paused_and_resumed_and_everybody_sees_it(shop: House, visit: Visit) -> None:
    shop.enqueue("greet", "Ada", using=LATER)
    screen, other = visit("ui/queues"), visit("ui/queues/mail")
    screen.click("Pause the queue mail")
    screen.says("mail is paused")
    expect(screen.row("mail")).to_contain_text("paused")
    expect(other.page.locator("h1")).to_contain_text("paused")
    other.click("Resume the queue mail")
    expect(screen.row("mail")).not_to_contain_text("paused")


def test_a_queue_has_its_counts_its_limits_and_what_comes_next(shop: House, visit: Visit) -> None:
    shop.dead("nobody")
    shop.enqueue_many("label", [(n,) for n in range(3)], using=LATER)
    screen = visit("ui/queues/stock")
    screen.title("stock")
    expect(screen.row("label")).to_have_count(3)
    screen.click("All jobs of this queue", "link")
    expect(screen.rows).to_have_count(3)
    assert screen.path == "ui/jobs?queue=stock"
    screen.goto("ui/queues/mail")
    expect(screen.page.locator(".tile-dead")).to_contain_text("1")
    screen.sees("Nothing runs or waits here.")
    screen.sees("No limit holds jobs of this queue back.")


def test_a_limit_shows_who_waits_for_it(shop: House, visit: Visit) -> None:
    shop.stop_worker()
    shop.enqueue_many("label", [(n,) for n in range(3)])
    screen = visit("ui/queues/stock")
    row = screen.page.locator("tr").filter(has_text="press")
    expect(row).to_contain_text("1 at a time")


def test_a_queue_is_purged_only_by_its_name(shop: House, visit: Visit) -> None:
    ids = shop.enqueue_many("greet", [(str(n),) for n in range(5)], using=LATER)
    screen = visit("ui/queues/mail")
    screen.click("Purge")
    screen.answer("Purge")
    assert {*shop.states(*ids)} == {State.SCHEDULED}
    screen.page.get_by_label("Type mail to go on").fill("mail")
    screen.answer("Purge")
    screen.says("5 jobs deleted.")
    assert {*shop.states(*ids)} == {None}
