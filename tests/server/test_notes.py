"""Labels and headers are bounded, over whichever API a job comes."""

from typing import Any

import grpc
import pytest
from msgspec.structs import replace

from tests.server.conftest import Serve
from tests.server.grpc.client import served as grpc_served
from windlass import Windlass
from windlass.core.model import NewJob, Spec
from windlass.core.notes import MOST_BYTES, MOST_LABELS
from windlass.errors import InvalidOption
from windlass.middleware import Middleware, changed
from windlass.protocol import windlass_pb2 as pb
from windlass.stores.remote.calls import CALLS, encode

MANY = {str(number): "" for number in range(MOST_LABELS + 1)}
LARGE = {"k": "x" * MOST_BYTES}
WIDE = {"k": "é" * (MOST_BYTES // 2)}
HALF = {"k": "x" * (MOST_BYTES // 2)}
WRONG: list[dict[str, Any]] = [
    {"labels": MANY},
    {"labels": LARGE},
    {"labels": WIDE},
    {"headers": LARGE},
    {"labels": HALF, "headers": HALF},
]
AS_MANY = {f"{number:02}": "x" for number in range(MOST_LABELS)}
AS_LARGE = {"k": "x" * (MOST_BYTES - 1)}


@pytest.fixture
def app() -> Windlass:
    app = Windlass("memory://")
    app.task(name="t")(lambda: None)
    return app


@pytest.mark.parametrize("wrong", WRONG)
async def test_too_much_is_refused_everywhere(serve: Serve, app: Windlass, wrong: Any) -> None:
    api = await serve(app)
    for path, body in (
        ("jobs", {"task": "t"} | wrong),
        ("jobs/batch", {"jobs": [{"task": "t"} | wrong]}),
    ):
        answer = await api.post(path, body)
        assert answer.status == 422, answer
        assert "at most" in answer.detail
    # What Windlass and tracing add has room besides.
    larger: Any = {
        name: {key: text * 2 for key, text in texts.items()} for name, texts in wrong.items()
    }
    jobs = [NewJob("a", Spec("t", b"\x93\x01\x90\x80", **larger))]
    answer = await api.post("store/insert", data=encode(CALLS["insert"].arguments(jobs)))
    assert answer.status == 422, answer
    async with grpc_served(app) as other:
        request = pb.EnqueueRequest(job=pb.NewJob(task="t", **wrong))
        code, said = await other.client.refusal("Jobs.Enqueue", request)
        assert (code, "at most" in said) == (grpc.StatusCode.INVALID_ARGUMENT, True)
    assert await api.number() == 0


@pytest.mark.parametrize("right", [{"labels": AS_MANY}, {"labels": AS_LARGE}])
async def test_as_much_as_is_allowed_is_stored(serve: Serve, app: Windlass, right: Any) -> None:
    api = await serve(app)
    assert (await api.post("jobs", {"task": "t"} | right)).status == 201


@pytest.mark.parametrize("wrong", WRONG)
def test_it_is_refused_in_python_too(app: Windlass, wrong: Any) -> None:
    class Adding(Middleware):
        def enqueue(self, job: NewJob) -> NewJob:
            return changed(job, headers=wrong.get("headers", {}))

    class Replacing(Middleware):
        def enqueue(self, job: NewJob) -> NewJob:
            headers = {name: text * 2 for name, text in wrong.get("headers", {}).items()}
            return replace(job, spec=replace(job.spec, headers=headers))

    for middleware in (Adding(), Replacing()):
        other = Windlass("memory://", middleware=[middleware])
        task = other.task(name="t")(lambda: None)
        with pytest.raises(InvalidOption, match="at most"):
            task.using(labels=wrong.get("labels", {})).enqueue()
