"""Requests that cannot be carried out: refused with a sentence, nothing written, nothing broken."""

import json
from collections.abc import AsyncIterator
from io import BytesIO
from typing import Any

import msgspec
import pytest

from tests.server.conftest import Serve
from tests.server.serving import Answer, Served

JSON = {"Content-Type": "application/json"}
MSGPACK = {"Content-Type": "application/msgpack"}


@pytest.fixture
async def api(serve: Serve) -> AsyncIterator[Served]:
    """A small server, which must be as it was at the end."""
    api = await serve(max_body=4_096)
    yield api
    assert await api.number() == 0
    assert await api.store.schedules() == []
    assert (await api.post("jobs", {"task": "x"})).status == 201


async def send(api: Served, data: bytes, headers: dict[str, str], path: str = "jobs") -> Answer:
    return await api("POST", path, data=BytesIO(data), headers=headers)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"nonsense",
        b'{"task": }',
        b'{"task": "x"} trailing',
        b'{"task": "\xff\xfe"}',
        b'{"task": "\\ud800"}',
        b"\x00",
        b'{"task": NaN}',
        b"\xef\xbb\xbf{}",
    ],
)
async def test_what_is_no_json_is_400(api: Served, text: bytes) -> None:
    answer = await send(api, text, JSON)
    assert (answer.status, answer.json["error"]) == (400, "Malformed")
    assert answer.detail.endswith(".")


@pytest.mark.parametrize("data", [b"", b"\xc1", b"\x81", b"\x81\xa4task\xa1x!", b"\x92\x01"])
async def test_what_is_no_messagepack_is_400(api: Served, data: bytes) -> None:
    answer = await send(api, data, MSGPACK)
    assert (answer.status, answer.json["error"]) == (400, "Malformed")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (None, "Expected `object`, got `null`"),
        ([], "Expected `object`, got `array`"),
        ({}, "missing required field `task`"),
        ({"task": 7}, "Expected `str`, got `int` - at `$.task`"),
        ({"task": ""}, "length >= 1"),
        ({"task": "x" * 129}, "length <= 128"),
        ({"task": "x", "args": {}}, "Expected `array`, got `object` - at `$.args`"),
        ({"task": "x", "kwargs": []}, "Expected `object`, got `array` - at `$.kwargs`"),
        ({"task": "x", "priority": 101}, "`$.priority`"),
        ({"task": "x", "priority": "urgent"}, "`$.priority`"),
        ({"task": "x", "priority": 1.5}, "`$.priority`"),
        ({"task": "x", "priority": True}, "`$.priority`"),
        ({"task": "x", "max_retries": -1}, "`$.max_retries`"),
        ({"task": "x", "max_retries": 2**31}, "`$.max_retries`"),
        ({"task": "x", "delay": -1}, "`$.delay`"),
        ({"task": "x", "timeout": "long"}, "`$.timeout`"),
        ({"task": "x", "at": "tomorrow"}, "`$.at`"),
        ({"task": "x", "at": "2030-01-01T00:00:00"}, "timezone"),
        ({"task": "x", "labels": {"a": 1}}, "`$.labels[...]`"),
        ({"task": "x", "headers": ["a"]}, "`$.headers`"),
        ({"task": "x", "depends_on": "a"}, "`$.depends_on`"),
        ({"task": "x", "orphaned": "run away"}, "`$.orphaned`"),
        ({"task": "x", "limit": {"rat": "5/s"}}, "unknown field `rat`"),
        ({"task": "x", "colour": "red"}, "unknown field `colour`"),
        ({"task": "x", "payload": "AA==", "content_type": 3}, "`$.content_type`"),
    ],
)
async def test_values_of_the_wrong_type_are_400(api: Served, body: Any, said: str) -> None:
    answer = await send(api, json.dumps(body).encode(), JSON)
    assert (answer.status, said in answer.detail) == (400, True), answer.body


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"task": " x"}, "The name of a task"),
        ({"task": "a\0b"}, "The name of a task"),
        ({"task": "x", "queue": "\n"}, "The name of a queue"),
        ({"task": "x", "id": " "}, "A job id"),
        ({"task": "x", "id": "a\u202eb"}, "A job id"),
        ({"task": "x", "delay": 1, "at": "2030-01-01T00:00:00Z"}, "Give delay or at, not both."),
        ({"task": "x", "delay": 1e300}, "delay"),
        ({"task": "x", "timeout": 0}, "timeout"),
        ({"task": "x", "unique": ""}, "unique is a text"),
        ({"task": "x", "unique": "a" * 256}, "unique is a text"),
        ({"task": "x", "unique": "\0"}, "unique"),
        ({"task": "x", "unique_for": 5}, "unique_for says something about unique"),
        ({"task": "x", "on_conflict": "last"}, "on_conflict says something about unique"),
        ({"task": "x", "weight": 3}, "weight says something about group"),
        ({"task": "x", "group": "g", "weight": 10**6}, "weight"),
        ({"task": "x", "limit": {}}, "A Limit has a rate, a concurrency, or both."),
        ({"task": "x", "limit": {"rate": "fast"}}, "rate is a text"),
        ({"task": "x", "limit": {"concurrency": 0}}, "concurrency is a whole number"),
        ({"task": "x", "limit": {"concurrency": 1}, "sequence": "s"}, "not both"),
        ({"task": "x", "id": "a", "depends_on": ["a"]}, "cannot depend on itself"),
        ({"task": "x", "at": "9999-12-31T23:59:59Z"}, "9998"),
    ],
)
async def test_values_that_cannot_be_are_422(api: Served, body: Any, said: str) -> None:
    answer = await send(api, json.dumps(body).encode(), JSON)
    assert (answer.status, said in answer.detail) == (422, True), answer.body


async def test_a_parent_that_is_not_there_is_404(api: Served) -> None:
    answer = await send(api, b'{"task": "x", "depends_on": ["nobody"]}', JSON)
    assert (answer.status, answer.json["error"]) == (404, "UnknownJob")


@pytest.mark.parametrize("number", ["1e400", "-1e400"])
async def test_numbers_beyond_all_bounds_are_4xx(api: Served, number: str) -> None:
    for field in ("delay", "timeout", "keep"):
        answer = await send(api, f'{{"task": "x", "{field}": {number}}}'.encode(), JSON)
        assert answer.status in (400, 422), answer


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
async def test_numbers_that_are_none_are_4xx(api: Served, number: float) -> None:
    for field in ("delay", "timeout", "keep", "expires_in", "unique_for"):
        data = msgspec.msgpack.encode({"task": "x", "unique": "u", field: number})
        answer = await send(api, data, MSGPACK)
        assert answer.status in (400, 422), answer


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "application/jsonx", "", "json"]
)
async def test_another_content_type_is_415(api: Served, kind: str) -> None:
    answer = await send(api, b'{"task": "x"}', {"Content-Type": kind})
    assert (answer.status, answer.json["error"]) == (415, "WrongType")
    assert "say which in Content-Type" in answer.detail


async def test_no_content_type_is_415(api: Served) -> None:
    answer = await api(
        "POST", "jobs", data=BytesIO(b'{"task": "x"}'), skip_auto_headers=["Content-Type"]
    )
    assert answer.status == 415


async def test_parameters_of_a_content_type_do_not_matter(serve: Serve) -> None:
    api = await serve()
    for kind in ("application/json; charset=utf-8", "Application/JSON", "application/json ;x"):
        answer = await send(api, b'{"task": "x"}', {"Content-Type": kind})
        assert answer.status == 201, kind


async def test_a_body_that_is_too_large_is_413(api: Served) -> None:
    body = json.dumps({"task": "x", "args": ["a" * 5_000]}).encode()
    answer = await send(api, body, JSON)
    assert (answer.status, answer.json["error"]) == (413, "TooLarge")
    assert "larger than 4,096 bytes" in answer.detail


async def test_a_body_that_is_too_large_and_does_not_say_so_is_413(api: Served) -> None:
    async def parts() -> AsyncIterator[bytes]:
        for _ in range(100):
            yield b"a" * 1_000

    answer = await api("POST", "jobs", data=parts(), headers=JSON)
    assert answer.status == 413


@pytest.mark.parametrize("depth", [500, 2_000])
@pytest.mark.parametrize("kind", ["json", "msgpack"])
async def test_deep_nesting_breaks_nothing(serve: Serve, depth: int, kind: str) -> None:
    api = await serve()
    if kind == "json":
        data = b'{"task": "x", "args": [' + b"[" * depth + b"]" * depth + b"]}"
    else:
        data = b"\x82\xa4task\xa1x\xa4args\x91" + b"\x91" * depth + b"\xc0"
    answer = await send(api, data, JSON if kind == "json" else MSGPACK)
    assert answer.status in (201, 400, 422), answer
    if answer.status == 201:
        assert (await api.get(f"jobs/{answer.json['id']}")).status == 200
        page = await api.get("jobs", headers={"Accept": "application/msgpack"})
        assert page.status == 200


@pytest.mark.parametrize(
    "path",
    [
        "jobs/%ff",
        "jobs/%C3%28",
        "queues/%80/pause",
        "cron/%fe",
        "history/%ff",
    ],
)
async def test_an_address_that_is_not_utf8_is_400(api: Served, path: str) -> None:
    from yarl import URL

    url = URL(f"{api.url}/api/v1/{path}", encoded=True)
    method = "POST" if path.endswith("pause") else "GET"
    async with api.session.request(method, url) as answer:
        assert answer.status == 400
        assert (await answer.json(content_type=None))["detail"] == "The address is not in UTF-8."


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("limit=%ff", "cannot be read as parameters in UTF-8"),
        ("x=1", "Unknown parameter 'x': known are worker, label, "),
        ("Limit=1", "Unknown parameter 'Limit': did you mean limit?"),
        ("limit=1&limit=1", "The parameter limit is given twice."),
        ("limit=", "A parameter does not fit"),
        ("limit=1.5", "A parameter does not fit"),
        ("&".join(["state=dead"] * 101), "cannot be read as parameters"),
    ],
)
async def test_a_query_that_cannot_be_read_is_400(api: Served, query: str, said: str) -> None:
    from yarl import URL

    url = URL(f"{api.url}/api/v1/jobs?{query}", encoded=True)
    async with api.session.get(url) as answer:
        assert answer.status == 400
        assert said in (await answer.json(content_type=None))["detail"]


async def test_an_address_without_parameters_takes_none(api: Served) -> None:
    for path in ("/livez", "queues", "jobs/none", "/metrics"):
        answer = await api.get(path, params={"x": "1"})
        assert (answer.status, answer.detail) == (400, "Unknown parameter 'x': known are none.")


@pytest.mark.parametrize(
    "path", ["/api", "/api/v1", "/api/v2/jobs", "/api/v1/jobs/", "/api/v1/jobs/a/b", "//jobs"]
)
async def test_an_address_with_nothing_there_is_404(api: Served, path: str) -> None:
    answer = await api.get(path)
    assert (answer.status, answer.json["error"]) == (404, "NotThere")
    assert "/docs" in answer.detail


async def test_bad_values_for_schedules_and_signals_are_refused(api: Served) -> None:
    assert (await api("PUT", "cron/x", {"text": "* * * * *"})).status == 400
    assert (await api("PUT", "cron/x")).status == 415
    assert (await api.post("jobs/none/signal", {"name": "", "value": 1})).status == 400
    assert (await api.post("jobs/none/signal", [])).status == 400
