"""Every screen, by the rules of WCAG 2.2 AA as far as a program can check them."""

from pathlib import Path

import axe_playwright_python

from tests.dashboard.conftest import Visit
from tests.dashboard.house import House
from tests.dashboard.screen import Screen
from windlass import chain, group
from windlass.core.states import State

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text("utf-8")
RUN = """async (rules) => {
    const found = await axe.run({ runOnly: rules, resultTypes: ["violations"] });
    return found.violations.flatMap(({ id, nodes }) =>
        nodes.map((node) => `${id}: ${node.html} ${node.failureSummary}`));
}"""
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
COLOURS = ["color-contrast"]
LATER = {"delay": 3600}


def test_no_screen_keeps_anybody_out(shop: House, visit: Visit) -> None:
    tasks = shop.shop.tasks
    (dead,) = shop.dead("nobody")
    running = shop.enqueue("bake")
    shop.enqueue("greet", "Ada", using=LATER | {"labels": {"tenant": "acme"}})
    flow = shop.enqueue_workflow(
        chain(
            group(tasks["count"].step("tins"), tasks["hold"].step("jars")), tasks["add_up"].step()
        )
    )
    shop.wait_for(State.ACTIVE, running)
    shop.wait_for_history(1)
    screen = visit("", color_scheme="light", reduced_motion="reduce")
    screen.page.evaluate(AXE)
    for path, text in (
        ("", "Throughput"),
        ("ui/queues", "mail"),
        ("ui/queues/mail", "Next in line"),
        ("ui/jobs", "post"),
        (f"ui/jobs/{dead}", "Traceback"),
        (f"ui/jobs/{running}", "the dough rises"),
        ("ui/dead", "Fatal"),
        ("ui/workflows", flow),
        (f"ui/workflows/{flow}", "When they ran"),
        ("ui/cron", "close_up"),
        ("ui/workers", "Busy slots"),
        ("ui/history", "post"),
        (f"ui/history/{dead}", "Traceback"),
        ("ui/enqueue", "Arguments"),
        ("ui/nowhere", "Nothing here"),
    ):
        screen.open(path)
        screen.sees(text)
        screen.page.emulate_media(color_scheme="light")
        assert looked_at(screen, RULES) == [], path
        screen.page.emulate_media(color_scheme="dark")
        assert looked_at(screen, COLOURS) == [], f"{path} in the dark"


def test_dialogs_and_the_login_keep_nobody_out(shop: House, visit: Visit) -> None:
    (dead,) = shop.dead("nobody")
    screen = visit(f"ui/jobs/{dead}", expected=["401"])
    screen.page.evaluate(AXE)
    for button in ("Edit and replay", "Delete", "Keys ?"):
        screen.click(button)
        screen.page.locator("dialog[open]").wait_for()
        assert looked_at(screen, RULES) == [], button
        screen.page.keyboard.press("Escape")
    shop.add_key("admin")
    screen.page.keyboard.press("r")
    screen.page.get_by_label("API key").wait_for()
    assert looked_at(screen, RULES) == []


def looked_at(screen: Screen, rules: list[str]) -> list[str]:
    found: list[str] = screen.page.evaluate(RUN, rules)
    return found
