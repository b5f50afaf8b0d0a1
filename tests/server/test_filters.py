"""Jobs looked for by what a store does not list them by: bounded, exact, and without an oracle."""

from typing import Any

import pytest
from msgspec.structs import replace

from tests.server.conftest import Serve
from tests.server.serving import EVERY_QUEUE, Served
from tests.server.shop import Shop
from tests.server.stream import following
from windlass import Windlass, chain
from windlass.admin import scan
from windlass.core.states import State
from windlass.testing.jobs import new_job
from windlass.testing.work import work


async def found(api: Served, **filters: Any) -> set[str]:
    """The ids of all that match, page by page."""
    ids: list[str] = []
    cursor = None
    while True:
        params = [(name, each) for name, value in filters.items() for each in _many(value)]
        params += [("cursor", cursor)] if cursor else []
        answer = await api.get("jobs", params=params)
        assert answer.status == 200, answer
        ids += [job["id"] for job in answer.json["jobs"]]
        cursor = answer.json["cursor"]
        if cursor is None:
            assert len({*ids}) == len(ids), "a job came twice"
            return {*ids}


def _many(value: Any) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list) else [str(value)]


async def test_jobs_are_found_by_an_argument(api: Served) -> None:
    ada = await api.enqueue("greet", "Ada Lovelace")
    bob = await api.enqueue("greet", kwargs={"name": "Bob"})
    total = await api.enqueue("add", 17, kwargs={"b": 4})
    assert await found(api, argument="name=Ada") == {ada}
    assert await found(api, argument="Bob") == {bob}
    assert await found(api, argument="a=17") == await found(api, argument="17") == {total}
    assert await found(api, argument=["a=17", "b=4"]) == {total}
    assert await found(api, argument=["a=17", "b=5"]) == set()
    # Of a number no part, and no name for a value.
    assert await found(api, argument="1") == await found(api, argument="name=17") == set()
    assert await found(api, argument="a=Ada") == set()


async def test_jobs_are_found_by_what_is_within_an_argument(bare: Served) -> None:
    data = {"order": {"id": 4711, "paid": True, "note": None, "lines": ["tea", {"qty": 2.5}]}}
    id = await bare.enqueue("ship", data, queue="x")
    await bare.enqueue("ship", {"order": {"id": 4712}})
    for text in ("4711", "true", "null", "tea", "2.5"):
        assert await found(bare, argument=text) == {id}, text
    assert await found(bare, argument="4711", queue="x", task="ship", state="pending") == {id}
    assert await found(bare, argument="4711", queue="y") == set()


async def test_results_of_other_jobs_come_before_what_was_given(serve: Serve, shop: Shop) -> None:
    add = shop.tasks["add"]
    flow = await shop.aenqueue_workflow(chain(add.step(1), add.step(30)))
    second = (await flow.ajobs())[1].id
    api, hiding = await serve(shop), await serve(shop, redact=("b",))
    # It is b that was given to the second, for a comes from the first.
    assert await found(api, argument="b=30") == {second}
    assert await found(api, argument="a=30") == set()
    assert (await hiding.get(f"jobs/{second}")).json["args"] == ["***"]
    assert await found(hiding, argument="30") == set()


async def test_jobs_are_found_by_label_worker_and_error(api: Served, shop: Shop) -> None:
    red = await api.enqueue("greet", "Ada", labels={"colour": "red", "size": "9"})
    await api.enqueue("greet", "Ada", labels={"colour": "blue"})
    dead = await api.enqueue("refuse", "The Printer is on fire")
    assert await found(api, label="colour=red") == {red}
    assert await found(api, label=["colour=red", "size=9"]) == {red}
    assert await found(api, label=["colour=red", "size=8"]) == set()
    await work(shop, EVERY_QUEUE)
    assert await found(api, error="printer is ON") == await found(api, error="fatal") == {dead}
    assert await found(api, error="water") == set()
    job = (await api.get(f"jobs/{dead}")).json
    assert await found(api, fingerprint=job["fingerprint"]) == {dead}
    assert await found(api, worker=job["worker"], state="dead") == {dead}
    assert await found(api, worker="nobody") == set()


async def test_jobs_are_found_by_their_time(api: Served, shop: Shop) -> None:
    dead = await api.enqueue("refuse")
    await work(shop, EVERY_QUEUE)
    waiting = await api.enqueue("greet", "Ada")
    ended = (await api.get(f"jobs/{dead}")).json["finished_at"]
    created = (await api.get(f"jobs/{waiting}")).json["created_at"]
    assert await found(api, since="2020-01-01T00:00:00Z") == {dead, waiting}
    assert await found(api, until="2020-01-01T00:00:00Z") == set()
    assert dead in await found(api, since=ended, state="dead")
    assert await found(api, until=ended, state="dead") == set()
    assert waiting in await found(api, since=created)
    assert await found(api, since="2100-01-01T00:00:00+01:00") == set()
    assert (await api.get("jobs", params={"since": "2020-01-01T00:00:00"})).status == 400


@pytest.mark.parametrize("filters", [{"argument": "x=1"}, {"error": "no"}, {"label": "a=1"}])
async def test_a_search_among_many_is_bounded_and_goes_on_by_its_cursor(
    bare: Served, monkeypatch: pytest.MonkeyPatch, filters: dict[str, str]
) -> None:
    jobs = [{"task": "a", "kwargs": {"x": number}} for number in range(50)]
    await bare.post("jobs/batch", {"jobs": jobs})
    monkeypatch.setattr(scan, "SCAN_BATCH", 10)
    monkeypatch.setattr(scan, "MOST_LOOKS", 2)
    first = (await bare.get("jobs", params=filters | {"limit": "5"})).json
    assert first["cursor"] is not None
    assert first["looked_at"] == 15
    pages, cursor = 1, first["cursor"]
    while cursor is not None:
        page = (await bare.get("jobs", params=filters | {"limit": "5", "cursor": cursor})).json
        pages, cursor = pages + 1, page["cursor"]
    assert pages == 4


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 100])
async def test_each_that_matches_comes_once_however_long_pages_are(
    bare: Served, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    jobs = [{"task": "a", "kwargs": {"even": number % 2 == 0}, "id": f"j{number:03}"}
            for number in range(60)]  # fmt: skip
    await bare.post("jobs/batch", {"jobs": jobs})
    monkeypatch.setattr(scan, "SCAN_BATCH", 10)
    wanted = {f"j{number:03}" for number in range(0, 60, 2)}
    assert await found(bare, argument="even=true", limit=limit) == wanted


async def test_of_finished_jobs_no_older_ones_are_looked_at(
    api: Served, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(30):
        await api.enqueue("add", 1)
    await work(shop, EVERY_QUEUE)
    monkeypatch.setattr(scan, "SCAN_BATCH", 5)
    params = {"state": "completed", "since": "2100-01-01T00:00:00Z", "limit": "5"}
    page = (await api.get("jobs", params=params)).json
    assert (page["jobs"], page["cursor"], page["looked_at"]) == ([], None, 5)


async def test_what_is_hidden_cannot_be_found_out_by_looking_for_it(
    serve: Serve, shop: Shop
) -> None:
    api = await serve(shop, redact=("name",))
    by_position = await api.enqueue("greet", "secret")
    by_name = await api.enqueue("greet", kwargs={"name": "secret"})
    assert await found(api, argument="secret") == set()
    answer = await api.get("jobs", params={"argument": "name=secret"})
    assert (answer.status, "not shown here" in answer.detail) == (422, True)
    for where in ({"argument": ["secret"]}, {"argument": ["s"]}):
        asked = {"action": "cancel", "where": where}
        for dry in (True, False):
            done = (await api.post("jobs/bulk", asked | {"dry": dry})).json
            assert (done["changed"], done["left"]) == (0, 0)
    refused = {"action": "cancel", "where": {"argument": ["name=secret"]}}
    assert (await api.post("jobs/bulk", refused)).status == 422
    assert await api.number(State.PENDING) == 2
    # The rest of such a job is still looked at.
    assert await found(api, task="greet") == {by_position, by_name}


async def test_nothing_that_lists_or_follows_jobs_has_arguments_in_it(
    serve: Serve, shop: Shop
) -> None:
    api = await serve(shop, redact=("reason",))
    id = await api.enqueue("refuse", "secret")
    for path in ("jobs", f"jobs/{id}", f"jobs/{id}/attempts", f"jobs/{id}/why", "overview"):
        assert b"secret" not in (await api.get(path)).body, path
    async with following(api, id) as stream:
        assert "args" not in (await stream.next())[1]
    await api.post(f"jobs/{id}/cancel")
    async with following(api, id) as stream:
        assert all("secret" not in str(event) for event in await stream.rest())


async def test_without_an_app_no_position_is_looked_at_if_some_names_are_hidden(
    serve: Serve,
) -> None:
    bare = await serve(redact=("password",))
    await bare.enqueue("log_in", "ada", "secret")
    named = await bare.enqueue("log_in", kwargs={"user": "ada", "password": "secret"})
    assert await found(bare, argument="secret") == set()
    assert await found(bare, argument="ada") == await found(bare, argument="user=ada") == {named}


async def test_all_of_a_hidden_rest_is_hidden(serve: Serve) -> None:
    app = Windlass("memory://")

    @app.task
    async def note(first: int, *secrets: str) -> None: ...

    api = await serve(app, redact=("secrets",))
    id = await api.enqueue("note", 1, "two", "three")
    assert (await api.get(f"jobs/{id}")).json["args"] == [1, "***", "***"]
    assert await found(api, argument="three") == set()
    assert await found(api, argument="1") == {id}
    await app.aclose()


async def test_a_job_that_cannot_be_read_is_passed_over(bare: Served) -> None:
    job = new_job("broken")
    await bare.store.insert([replace(job, spec=replace(job.spec, content_type="nothing"))])
    assert await found(bare, argument="x") == set()
    assert await found(bare) == {"broken"}


@pytest.mark.parametrize(
    ("params", "status"),
    [
        ({"label": "colour"}, 422),
        ({"since": "yesterday"}, 400),
        ({"argument": "a", "cursor": "x"}, 422),
        ({"arguments": "a"}, 400),
    ],
)
async def test_a_filter_that_cannot_be_says_so(
    bare: Served, params: dict[str, str], status: int
) -> None:
    assert (await bare.get("jobs", params=params)).status == status
