"""The API does what its description says, whatever is sent: requests made up by schemathesis."""

import os
from collections.abc import Iterator
from http.cookiejar import DefaultCookiePolicy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import requests
import schemathesis
from openapi_spec_validator import validate
from schemathesis.checks import (
    content_type_conformance,
    negative_data_rejection,
    not_a_server_error,
    response_schema_conformance,
    status_code_conformance,
)

from tests.server.background import in_background
from tests.server.serving import V1, Served
from tests.server.shop import Shop
from windlass.core.codec import MSGPACK
from windlass.server.http.pages import described
from windlass.server.http.routes import ROUTES

EXAMPLES = 10
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    negative_data_rejection,
]
# One phase of it alone makes hundreds of requests for each operation.
CONFIG = schemathesis.Config.from_dict(
    {
        "generation": {
            "max-examples": EXAMPLES,
            "deterministic": "CI" in os.environ,
            "mode": "all",
        },
        "phases": {"coverage": {"enabled": False}},
    }
)

schemathesis.serializer("application/msgpack")(lambda context, value: MSGPACK.encode(value))

schema = (
    schemathesis.openapi.from_dict(described(), config=CONFIG)
    .exclude(path=f"{V1}/events")
    .exclude(path_regex=f"^{V1}/store/")
)


@pytest.fixture(scope="module")
def api() -> Iterator[Served]:
    with TemporaryDirectory() as folder:
        history = f"sqlite:///{Path(folder)}/history.db"
        with in_background(Shop(history=history), max_wait=0.01) as served:
            yield served


@pytest.fixture(scope="module")
def session() -> Iterator[requests.Session]:
    """Connections that all requests share; of cookies they share none."""
    with requests.Session() as session:
        session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=()))
        yield session


@schema.parametrize()
def test_the_api_keeps_to_its_description(
    case: Any, api: Served, session: requests.Session
) -> None:
    path: dict[str, Any] = case.path_parameters
    if path and case.meta.generation.mode.is_positive and len(next(iter(path.values()))) % 3:
        # Names that are made up find nothing; most of the time there is to be something.
        case.path_parameters = dict.fromkeys(path, "there")
        job = {"task": "greet", "args": ["Ada"], "id": "there", "queue": "there"}
        session.post(f"{api.url}{V1}/jobs", json=job).raise_for_status()
        schedule: Any = {"text": "0 9 * * *", "job": {"task": "refuse", "queue": "there"}}
        session.put(f"{api.url}{V1}/cron/there", json=schedule).raise_for_status()
    case.call_and_validate(base_url=api.url, session=session, checks=CHECKS)


def test_the_description_is_valid() -> None:
    validate(described())


def test_every_route_is_described() -> None:
    paths = described()["paths"]
    for row in ROUTES:
        operation = paths[row.path][row.method.lower()]
        assert operation["operationId"] == row.name
        assert operation["summary"]
        statuses = {str(status) for status in row.answers}
        assert statuses < {*operation["responses"]}
        assert operation.get("x-role") == (row.role and row.role.value)
        assert (operation.get("security") == []) == row.is_public
        named = {each["name"] for each in operation.get("parameters", ()) if each["in"] == "path"}
        assert named == {*row.parameters}
    described_rows = {(path, method) for path, methods in paths.items() for method in methods}
    assert described_rows == {(row.path, row.method.lower()) for row in ROUTES}
