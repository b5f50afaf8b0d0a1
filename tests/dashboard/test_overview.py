"""The overview: what happens now, and what needs somebody."""

import pytest
from playwright.sync_api import expect

from tests.dashboard.conftest import Visit
from tests.dashboard.house import House
from windlass.core.states import State
from windlass.server import panorama


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that looks anew for everybody who asks."""
    monkeypatch.setattr(panorama, "LASTS", 0.0)


def test_the_overview_counts_charts_and_names_what_needs_attention(
    fresh: None, shop: House, visit: Visit
) -> None:
    screen = visit(clock=True)
    screen.sees("Nothing needs attention.")
    screen.sees("No queue has been used yet.")
    shop.dead("nobody")
    shop.pause("mail")
    shop.enqueue("greet", "Ada")
    expect(screen.page.locator(".tile").filter(has_text="dead")).to_contain_text("1")
    expect(screen.row("mail")).to_contain_text("1")
    screen.page.clock.fast_forward(11_000)
    paused = screen.page.locator(".attention li").filter(has_text="paused")
    paused.get_by_role("link", name="Look").click()
    screen.title("mail")


def test_a_chart_is_read_by_keys_and_as_a_table(shop: House, visit: Visit) -> None:
    screen = visit()
    chart = screen.page.get_by_role("img", name="Throughput")
    chart.focus()
    screen.page.keyboard.press("ArrowLeft")
    expect(screen.page.locator("figcaption")).to_contain_text("/min")
    screen.click("Day")
    expect(chart).to_be_visible()
    screen.page.get_by_text("As a table").click()
    expect(screen.page.locator(".as-table tbody tr").first).to_be_visible()


def test_the_totals_of_the_chart_have_the_step_that_is_running(shop: House, visit: Visit) -> None:
    ids = shop.enqueue_many("greet", [("Ada",)] * 4)
    shop.wait_for(State.COMPLETED, *ids)
    shop.wait_for_counts("mail", 4)
    screen = visit()
    for span in ("10 min", "Hour", "Day"):
        screen.click(span)
        expect(screen.page.locator("figcaption .legend").first).to_have_text("Completed 4")
