"""Workers: what they run, and the orders that they get."""

import pytest
from playwright.sync_api import expect

from tests.dashboard.conftest import Visit
from tests.dashboard.house import House
from windlass.core.states import State
from windlass.worker import presence


def test_a_worker_shows_its_slots_and_what_it_runs(shop: House, visit: Visit) -> None:
    id = shop.enqueue("hold", "jars")
    shop.wait_for(State.ACTIVE, id)
    screen = visit("ui/workers")
    expect(screen.rows).to_have_count(1)
    screen.page.locator(".runs summary").click()
    screen.click("hold", "link")
    screen.title("hold")


@pytest.fixture
def prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers that hear an order at once."""
    monkeypatch.setattr(presence, "BEAT", 0.2)


def test_a_worker_is_quieted_resumed_and_stopped(prompt: None, shop: House, visit: Visit) -> None:
    screen = visit("ui/workers")
    order = screen.rows.first.get_by_role("button")
    order.filter(has_text="Quiet").click()
    screen.says("claims nothing more")
    expect(screen.rows.first).to_contain_text("quiet")
    order.filter(has_text="Resume").click()
    expect(screen.rows.first).not_to_contain_text("quiet")
    order.filter(has_text="Stop").click()
    screen.answer("Stop the worker")
    screen.says("stops within seconds.")
    screen.sees("No worker is running.")
