"""Workflows: the list, the graph, when steps ran."""

from playwright.sync_api import expect

from tests.dashboard.conftest import Visit
from tests.dashboard.house import House
from windlass import chain, group
from windlass.core.states import State


def test_a_workflow_is_drawn_and_followed(shop: House, visit: Visit) -> None:
    tasks = shop.shop.tasks
    steps = chain(
        group(tasks["count"].step("tins"), tasks["hold"].step("jars")), tasks["add_up"].step()
    )
    id = shop.enqueue_workflow(steps)
    screen = visit("ui/workflows")
    screen.page.locator("[data-row] a").first.click()
    screen.title("Workflow")
    nodes = screen.page.locator("svg .node")
    expect(nodes).to_have_count(3)
    expect(nodes.filter(has_text="hold")).to_contain_text("active")
    expect(nodes.filter(has_text="add_up")).to_contain_text("blocked")
    expect(screen.page.locator("svg .edge")).to_have_count(2)
    shop.open()
    expect(nodes.filter(has_text="hold")).to_contain_text("completed")
    assert id in screen.path


def test_a_workflow_is_cancelled_and_retried(shop: House, visit: Visit) -> None:
    tasks = shop.shop.tasks
    id = shop.enqueue_workflow(chain(tasks["hold"].step("jars"), tasks["count"].step()))
    screen = visit(f"ui/workflows/{id}")
    screen.click("Cancel")
    screen.answer("Cancel the workflow")
    expect(screen.page.locator("h1 .state")).to_have_text("cancelled")
    shop.open()
    screen.click("Retry what failed")
    screen.says("replayed.")
    shop.wait_for(State.COMPLETED, id)
    screen.page.keyboard.press("r")
    expect(screen.page.locator("h1 .state")).to_have_text("completed")
    expect(screen.page.locator(".gantt li")).to_have_count(2)


def test_a_wide_workflow_is_drawn_with_its_like_steps_together(shop: House, visit: Visit) -> None:
    tasks = shop.shop.tasks
    wide = group(*[tasks["count"].step(f"shelf {n}") for n in range(90)])
    id = shop.enqueue_workflow(chain(wide, tasks["add_up"].step()))
    screen = visit(f"ui/workflows/{id}")
    nodes = screen.page.locator("svg .node")
    expect(nodes).to_have_count(2)
    expect(nodes.first).to_contain_text("90 completed")


def test_a_job_of_a_workflow_is_replayed_as_it_is_and_brings_the_workflow_back(
    shop: House, visit: Visit
) -> None:
    tasks = shop.shop.tasks
    id = shop.enqueue_workflow(chain(tasks["post"].step("nobody"), tasks["count"].step()))
    shop.wait_for(State.DEAD, id)
    screen = visit(f"ui/jobs/{id}.1")
    expect(screen.page.get_by_role("button", name="Replay", exact=True)).to_be_visible()
    expect(screen.page.get_by_role("button", name="Edit and replay")).to_have_count(0)
    screen.goto(f"ui/jobs/{id}")
    screen.sees(f"{id}.1 of post is dead (Fatal: nobody is no address)")
