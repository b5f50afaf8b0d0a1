"""Names and payloads that want to be markup stay text."""

from playwright.sync_api import expect

from tests.dashboard.conftest import Visit
from tests.dashboard.house import House
from windlass.core.states import State

MARKUP = '<img src=x onerror="window.harmed=1">\u202e<script>window.harmed=1</script>'
ODD = "a/b?c=d&e=#f%2Fg<b>ü"


def test_hostile_names_and_payloads_stay_text(shop: House, visit: Visit) -> None:
    id = f"job {ODD}"[:60]
    shop.enqueue(
        "post",
        MARKUP,
        {"__proto__": MARKUP, "constructor": {"vnode": {"type": "script", "props": {}}}},
        using={"queue": f"q+{ODD}", "id": id, "labels": {"note": MARKUP}},
    )
    shop.wait_for(State.DEAD, id)
    screen = visit("ui/jobs")
    screen.row("post").get_by_role("link", name="post").click()
    screen.title("post")
    expect(screen.page.locator(".attempts, .error").first).to_contain_text(MARKUP)
    expect(screen.page.locator(".facts")).to_contain_text(f"note={MARKUP}")
    screen.page.locator(".facts").get_by_role("link", name=f"q+{ODD}").click()
    screen.title(f"q+{ODD}")
    screen.click("Pause", exact=False)
    screen.says("is paused")
    for path in ("", "ui/queues", "ui/dead", f"ui/jobs?error={'x' * 300}", "ui/history"):
        screen.open(path)
    screen.open("ui/dead")
    expect(screen.rows.first).to_contain_text("<img")
    assert screen.page.evaluate("window.harmed") is None
    expect(screen.page.locator("main img[src=x]")).to_have_count(0)


def test_an_address_that_cannot_be_read_is_answered(shop: House, visit: Visit) -> None:
    screen = visit("ui/nonsense")
    screen.title("Nothing here")
    screen.goto("ui/jobs?state=nonsense&cursor=nonsense")
