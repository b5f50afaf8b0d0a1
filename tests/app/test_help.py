"""What `help()` and a print show at run time."""

import inspect
from collections.abc import Iterator

import pytest

import windlass
from tests.docs.pages import ROOT
from windlass import Job, Windlass
from windlass.core.model import Spec
from windlass.core.option_help import HELP, with_options
from windlass.core.options import CHECKS
from windlass.core.states import State
from windlass.declaration import CronDeclaration, Declaration
from windlass.task import CallOptions, Task


def options_of(doc: str | None) -> set[str]:
    assert doc is not None
    lines = doc.partition("Options, by name; times are seconds:")[2].splitlines()
    return {line.split()[0] for line in lines if line.strip()}


def test_help_of_the_decorator_lists_every_option_that_it_takes() -> None:
    assert options_of(Windlass.task.__doc__) == {*Declaration.__annotations__, "context", "batch"}
    assert options_of(Windlass.cron.__doc__) == {*CronDeclaration.__annotations__, "context"}
    assert options_of(Task.using.__doc__) == {*CallOptions.__annotations__}


def test_every_option_has_a_line_and_every_line_is_of_an_option() -> None:
    assert HELP.keys() == {
        *CHECKS,
        *CallOptions.__annotations__,
        *CronDeclaration.__annotations__,
        "context",
        "batch",
    }


def test_without_docstrings_there_is_none() -> None:
    assert with_options(None, ["queue"]) is None


def test_every_option_is_in_the_reference_too() -> None:
    page = (ROOT / "docs/reference/options.md").read_text("utf-8")
    assert [name for name in HELP if f"| `{name}` |" not in page] == []


def test_a_job_is_shown_in_a_line_without_its_arguments() -> None:
    spec = Spec("send", b"secret")
    job = Job("j-1", spec, "mail", State.RETRY, 50, created_at=0, due=0, attempt=2)
    assert repr(job) == "<Job j-1 of send: retry, attempt 2>"


def test_a_test_works_off_jobs_without_an_event_loop() -> None:
    from windlass.testing import FakeClock, work, work_blocking

    clock = FakeClock()
    app = Windlass("memory://", clock=clock)

    @app.task
    def double(number: int) -> int:
        return 2 * number

    job, later = double.enqueue(21), double.using(delay=60).enqueue(1)
    work_blocking(app)
    assert (job.result(timeout=0), later.get().state) == (42, State.SCHEDULED)
    clock.advance(60)
    work_blocking(app)
    assert later.result(timeout=0) == 2
    assert callable(work)


async def test_in_an_event_loop_it_says_what_to_await() -> None:
    from windlass.errors import WouldBlock
    from windlass.testing import work_blocking

    with pytest.raises(WouldBlock, match=r"use `await work\(…\)` in async code"):
        work_blocking(Windlass("memory://"))


def members(kind: type) -> Iterator[tuple[str, object]]:
    for name in dir(kind):
        found = inspect.getattr_static(kind, name)
        found = getattr(found, "fget", None) or found
        # Not a field, which a struct describes as a whole.
        if not name.startswith("_") and callable(found):
            yield f"{kind.__name__}.{name}", found


def test_everything_that_is_public_says_what_it_does() -> None:
    kinds = [each for name in windlass.__all__ if inspect.isclass(each := getattr(windlass, name))]
    each = dict(pair for kind in kinds for pair in members(kind))
    assert len(each) > 100
    assert [name for name, member in each.items() if not member.__doc__] == []
