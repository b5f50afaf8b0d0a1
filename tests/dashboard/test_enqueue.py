"""The form for a new job."""

import re

from playwright.sync_api import expect

from tests.dashboard.conftest import Visit
from tests.dashboard.house import House
from windlass.core.states import State


def test_the_form_is_made_of_the_signature(shop: House, visit: Visit) -> None:
    screen = visit("ui/enqueue?task=greet")
    expect(screen.page.get_by_label("times")).to_have_attribute("type", "number")
    screen.page.get_by_label("name str").fill("Ada")
    screen.page.get_by_label("times").fill("2")
    screen.page.get_by_label("loud").select_option("true")
    screen.page.get_by_label("tone").select_option("curt")
    screen.page.get_by_label("Labels").fill("tenant=acme")
    screen.click("Enqueue")
    expect(screen.page).to_have_url(re.compile(r"ui/jobs/.+"))
    result = screen.page.get_by_role("group", name="result")
    expect(result).to_have_text("Hello, Ada!Hello, Ada!")
    screen.sees('{"name":"Ada","times":2,"loud":true,"tone":"curt"}')
    screen.sees("tenant=acme")


def test_what_cannot_be_is_said_and_what_was_written_stays(shop: House, visit: Visit) -> None:
    screen = visit("ui/enqueue?task=post")
    screen.page.get_by_label("address").fill("nobody")
    screen.page.get_by_label("note").fill("{broken")
    screen.click("Enqueue")
    expect(screen.find("alert")).to_contain_text("This is no JSON")
    expect(screen.page.get_by_label("address")).to_have_value("nobody")
    screen.page.get_by_label("note").fill("")
    screen.page.get_by_label("Id", exact=True).fill("letter 1")
    screen.click("Enqueue")
    screen.title("post")
    shop.wait_for(State.DEAD, "letter 1")


def test_without_an_app_arguments_are_written_as_json(shop: House, visit: Visit) -> None:
    shop.serve_bare()
    screen = visit("ui/enqueue")
    screen.page.get_by_label("Task", exact=True).fill("greet")
    screen.page.get_by_label("By position, a JSON list").fill('["Ada"]')
    screen.click("Enqueue")
    expect(screen.page.get_by_role("group", name="result")).to_have_text("Hello, Ada!")
