"""Workers that are killed in the midst of a workflow: it comes to its end, once."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.crew import STORES, Crew, url_of
from tests.acceptance.flowing import make
from tests.acceptance.process import until
from windlass import State, chord, group
from windlass.core.states import FINISHED

WIDTH = 12
DEPTH = 4


@pytest.fixture(params=STORES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return url_of(request.param, request, tmp_path)


@pytest.fixture
def crew(url: str) -> Iterator[Crew]:
    crew = Crew("flowing.py", url)
    yield crew
    crew.close()


def test_a_workflow_survives_those_who_run_it(url: str, crew: Crew) -> None:
    app = make(url)
    visit, total, told = (app.tasks[name] for name in ("visit", "total", "told"))
    visits = group(*(visit.step(DEPTH) for _ in range(WIDTH)))
    try:
        workflow = app.enqueue_workflow(chord(visits, total.step()), on_success=told.step())

        def done() -> int:
            return sum(job.state in FINISHED for job in workflow.jobs())

        for number in range(4):
            until(lambda least=4 * number: done() > least, "some of its jobs")  # type: ignore[misc]
            crew.kill(number % 3)
        assert workflow.result(timeout=60) == WIDTH
        jobs = workflow.jobs()
        callback = told.handle(f"{workflow.id}:success")
        assert callback.result(timeout=20) == WIDTH
    finally:
        app.close()
    assert {job.state for job in jobs} == {State.COMPLETED}
    assert len(jobs) == WIDTH * (1 + DEPTH) + 1
