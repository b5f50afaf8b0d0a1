"""Dead letters by what killed them."""

import json
from pathlib import Path

from playwright.sync_api import expect

from tests.dashboard.conftest import Visit
from tests.dashboard.house import House
from windlass.core.states import State


def test_dead_jobs_are_grouped_shown_and_replayed(shop: House, visit: Visit) -> None:
    ids = shop.dead("box 1", "box 2", "box 3")
    screen = visit("ui/dead")
    expect(screen.rows).to_have_count(1)
    expect(screen.rows.first).to_contain_text("Fatal")
    expect(screen.rows.first).to_contain_text("3")
    screen.click("Show 3 jobs", "link")
    expect(screen.rows).to_have_count(3)
    screen.page.go_back()
    shop.stop_worker()
    screen.click("Replay 3 jobs that died of Fatal")
    screen.answer("Replay")
    screen.says("3 jobs replayed.")
    screen.sees("No job is dead.")
    assert {*shop.states(*ids)} == {State.PENDING}


def test_a_group_is_downloaded_and_deleted(shop: House, visit: Visit) -> None:
    ids = shop.dead("box 1", "box 2")
    screen = visit("ui/dead")
    with screen.page.expect_download() as found:
        screen.click("Download 2 jobs that died of Fatal", "link")
    lines = Path(found.value.path()).read_text("utf-8").splitlines()
    saved = {job["id"]: job["args"] for job in map(json.loads, lines)}
    assert saved == {ids[0]: ["box 1"], ids[1]: ["box 2"]}
    screen.click("Delete 2 jobs that died of Fatal")
    screen.answer("Delete")
    screen.says("2 jobs deleted.")
    assert {*shop.states(*ids)} == {None}
