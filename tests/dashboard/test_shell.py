"""The frame: keys, themes, narrow screens, and how much is sent."""

import re

from playwright.sync_api import expect

from tests.dashboard.conftest import Visit
from tests.dashboard.house import House

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
LATER = {"delay": 3600}
BEYOND = """[...document.querySelectorAll("main button, main a")]
    .filter((each) => each.checkVisibility() && each.getBoundingClientRect().right > innerWidth)
    .map((each) => each.innerText)"""
"""What can be pressed, but is out of sight at the side."""

MOST = 150_000


def test_everything_goes_by_keyboard(shop: House, visit: Visit) -> None:
    ids = shop.enqueue_many("greet", [("Ada",), ("Grace",)], using=LATER)
    screen = visit()
    keys = screen.page.keyboard
    expect(screen.page.locator(".link")).to_have_text("Live")
    keys.press("Tab")
    expect(screen.page.get_by_text("Skip to the content")).to_be_focused()
    keys.press("Enter")
    expect(screen.page.locator("main")).to_be_focused()
    keys.press("g")
    keys.press("j")
    screen.title("Jobs")
    expect(screen.page.locator("h1")).to_be_focused()
    expect(screen.rows).to_have_count(2)
    keys.press("j")
    keys.press("j")
    keys.press("x")
    screen.sees("1 job selected")
    keys.press("k")
    keys.press("Enter")
    screen.title("greet")
    screen.find("button", "Cancel", exact=True).focus()
    keys.press("Enter")
    expect(screen.find("button", "Cancel the job")).to_be_focused()
    keys.press("Escape")
    expect(screen.page.locator("dialog")).to_have_count(0)
    expect(screen.find("button", "Cancel", exact=True)).to_be_focused()
    keys.press("Enter")
    expect(screen.find("button", "Cancel the job")).to_be_focused()
    keys.press("Enter")
    expect(screen.page.locator("h1 .state")).to_have_text("cancelled")
    assert "cancelled" in map(str, shop.states(*ids))


def test_the_keys_are_shown_and_can_be_turned_off(shop: House, visit: Visit) -> None:
    screen = visit()
    screen.title("Overview")
    screen.page.keyboard.press("?")
    screen.page.get_by_label("Single keys do this").uncheck()
    screen.answer("Close")
    screen.page.keyboard.press("g")
    screen.page.keyboard.press("j")
    screen.click("Keys ?")
    expect(screen.page.locator("dialog")).to_contain_text("Go to Jobs")
    assert screen.path == ""


def test_a_theme_is_chosen_and_kept(shop: House, visit: Visit) -> None:
    screen = visit("", color_scheme="light")
    screen.title("Overview")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = screen.page.evaluate(ground)
    screen.click("As the system")
    screen.click("Light")
    expect(screen.find("button", "Dark", exact=True)).to_be_visible()
    assert screen.page.evaluate(ground) != light
    screen.page.reload()
    screen.title("Overview")
    assert screen.page.evaluate(ground) != light


def test_a_phone_shows_every_view_and_every_button_without_sideways_scrolling(
    shop: House, visit: Visit
) -> None:
    (id,) = shop.dead("a" * 200)
    screen = visit("", **PHONE)
    screen.click("Menu")
    screen.click("Jobs", "link", exact=False)
    screen.title("Jobs")
    expect(screen.find("link", "Workflows")).not_to_be_visible()
    for path in (
        "",
        "ui/jobs",
        f"ui/jobs/{id}",
        "ui/queues",
        "ui/queues/mail",
        "ui/dead",
        "ui/cron",
        "ui/workers",
        "ui/workflows",
        "ui/history",
        "ui/enqueue",
    ):
        screen.open(path)
        wide = screen.page.evaluate("document.documentElement.scrollWidth")
        assert wide <= 390, path
        assert screen.page.evaluate(BEYOND) == [], path


def test_the_first_paint_is_small(shop: House, visit: Visit) -> None:
    screen = visit("about:blank", fresh=True)
    wire = screen.page.context.new_cdp_session(screen.page)
    wire.send("Network.enable")
    sent: list[int] = []
    wire.on("Network.loadingFinished", lambda event: sent.append(event["encodedDataLength"]))
    screen.goto("")
    screen.sees("No queue has been used yet.")
    assert 10_000 < sum(sent) < MOST


def test_the_page_may_load_nothing_from_elsewhere(shop: House, visit: Visit) -> None:
    screen = visit("about:blank", fresh=True)
    hosts: set[str] = set()
    screen.page.on(
        "request", lambda request: hosts.add(re.sub(r"(//[^/]+)/.*", r"\1", request.url))
    )
    screen.goto("")
    screen.sees("No queue has been used yet.")
    assert hosts == {shop.url}


def test_all_of_it_works_below_a_path_of_another_app(shop: House, visit: Visit) -> None:
    id = shop.enqueue("greet", "Ada", using=LATER)
    screen = visit("ui/queues/mail", base=shop.mount("/inner/jobs"))
    screen.page.get_by_text("ada operate").wait_for()
    screen.row("greet").get_by_role("link", name="greet").click()
    screen.title("greet")
    assert screen.path == f"ui/jobs/{id}"
    screen.click("Cancel")
    screen.answer("Cancel the job")
    expect(screen.page.locator("h1 .state")).to_have_text("cancelled")
    screen.click("Windlass, overview", "link")
    screen.title("Overview")
    assert screen.path == ""
    expect(screen.page.locator(".link")).to_have_text("Live")
