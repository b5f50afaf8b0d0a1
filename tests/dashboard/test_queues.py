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


def test_many_queues_are_asked_for_together_and_ages_go_on(shop: House, visit: Visit) -> None:
    shop.stop_worker()
    for number in range(105):
        shop.enqueue("greet", "Ada", using={"queue": f"line-{number:03}"})
    screen = visit("about:blank", clock=True)
    asked: list[str] = []
    screen.page.on("request", lambda request: asked.append(request.url))
    screen.goto("ui/queues")
    expect(screen.rows).to_have_count(100)
    expect(screen.rows.first.get_by_role("img", name="0 completed")).to_be_visible()
    age = screen.rows.first.locator(".age")
    expect(age).not_to_have_text(age.inner_text())
    for _ in range(2):
        with screen.page.expect_request("**/api/v1/stats/queues"):
            screen.page.clock.fast_forward(61_000)
    assert len([url for url in asked if "/stats" in url]) == 3
    screen.click("Show all")
    expect(screen.rows).to_have_count(105)
    screen.fill("Name", "line-10")
    expect(screen.rows).to_have_count(5)


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
    screen.page.get_by_text("5 jobs deleted.").wait_for()
    screen.answer("Close")
    assert {*shop.states(*ids)} == {None}
