"""Dead letters by what killed them."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.dashboard.conftest import Visit
from tests.dashboard.house import House
from windlass.admin import dead
from windlass.core.states import State
from windlass.server.http import dead as http_dead


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
    screen.page.get_by_text("3 jobs replayed.").wait_for()
    screen.answer("Close")
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
    screen.page.get_by_text("2 jobs deleted.").wait_for()
    screen.answer("Close")
    assert {*shop.states(*ids)} == {None}


def test_groups_of_a_part_say_so_and_a_replay_of_one_is_watched_and_stopped(
    shop: House, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dead, "SCAN_BATCH", 2)
    monkeypatch.setattr(http_dead, "LONGEST", 0.0)
    shop.dead("box 1", "box 2", "box 3")
    screen = visit("ui/queues")
    screen.open("ui/dead")
    screen.sees("Looked at the 2 of 3 that died last")
    expect(screen.rows.first).to_contain_text("≥ 2")
    held = screen.hold("**/jobs/bulk")
    screen.click("Replay at least 2 jobs that died of Fatal")
    screen.answer("Replay")
    round = {"changed": 1, "left": 0, "more": True, "cursor": "next", "looked_at": 1, "of": 4}
    held.take().fulfill(json=round | {"refused": {}})
    bar = screen.page.locator("dialog").get_by_role("progressbar")
    expect(bar).to_have_attribute("value", "0.25")
    screen.answer("Stop")
    held.take().fulfill(json=round | {"refused": {}})
    screen.page.get_by_text("2 jobs replayed. Stopped.").wait_for()
    screen.page.go_back()
    screen.title("Queues")
    expect(screen.page.locator("dialog")).to_have_count(0)
