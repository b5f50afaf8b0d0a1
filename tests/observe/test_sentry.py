"""Failed attempts as Sentry gets them: the real SDK, with a transport in this process."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
import sentry_sdk
from sentry_sdk.envelope import Envelope
from sentry_sdk.integrations import logging as sentry_logging
from sentry_sdk.transport import Transport

from windlass import Fatal, Snooze, Windlass
from windlass.core.likeness import error_fingerprint
from windlass.errors import InvalidOption
from windlass.observe.fields import JOBS
from windlass.observe.sentry import Sentry
from windlass.scheduler.leader import Leader
from windlass.scheduler.rescuer import Rescuer
from windlass.testing.work import work


class Kept(Transport):
    """Keeps events instead of sending them."""

    def __init__(self) -> None:
        super().__init__({"dsn": "https://key@example.org/1"})
        self.events: list[dict[str, Any]] = []

    def capture_envelope(self, envelope: Envelope) -> None:
        event = envelope.get_event()
        if event is not None:
            self.events.append(dict(event))


@pytest.fixture
def kept() -> Iterator[Kept]:
    transport = Kept()
    with sentry_sdk.isolation_scope():
        sentry_sdk.init(
            "https://key@example.org/1",
            transport=transport,
            default_integrations=False,
            auto_enabling_integrations=False,
            include_local_variables=False,
        )
        yield transport
        sentry_sdk.init(default_integrations=False, auto_enabling_integrations=False)


async def test_a_dead_job_is_reported_with_its_tags_and_its_fingerprint(
    app: Windlass, kept: Kept
) -> None:
    app.observe(Sentry())

    @app.task(max_retries=1, backoff=0, queue="default")
    async def fail(secret: str) -> None:
        raise ValueError("no luck") from OSError("the disk is full")

    # Put together, for Sentry gets the source around a frame.
    job = await fail.aenqueue("-".join(["hunter", "2"]))
    await work(app)
    (event,) = kept.events
    assert event["tags"] == {
        "windlass.task": "fail",
        "windlass.queue": "default",
        "windlass.job_id": job.id,
        "windlass.attempt": "2",
        "windlass.state": "dead",
    }
    kinds = [each["type"] for each in event["exception"]["values"]]
    assert kinds == ["OSError", "ValueError"]
    error = (await job.aget()).error
    assert error is not None
    assert event["fingerprint"] == ["windlass", error_fingerprint("fail", error)]
    assert event["transaction"] == "fail"
    assert "hunter-2" not in str(event)


async def test_each_failed_attempt_is_reported_if_asked_for(app: Windlass, kept: Kept) -> None:
    app.observe(Sentry(on="failed"))

    @app.task(max_retries=1, backoff=0)
    def fail() -> None:
        raise ValueError("no luck")

    await fail.aenqueue()
    await work(app)
    states = [event["tags"]["windlass.state"] for event in kept.events]
    assert states == ["retry", "dead"]


async def test_what_is_no_failure_is_not_reported(app: Windlass, kept: Kept) -> None:
    app.observe(Sentry(on="failed"))

    @app.task
    async def go(later: bool) -> None:
        if later:
            raise Snooze(3600)

    await go.aenqueue(False)
    await go.aenqueue(True)
    await work(app)
    assert not kept.events


async def test_a_job_that_killed_its_worker_is_reported(app: Windlass, kept: Kept) -> None:
    app.observe(Sentry())

    await lose_one(app, "crash")
    (event,) = kept.events
    assert event["message"].startswith("LeaseExpired: ")
    assert event["tags"]["windlass.task"] == "crash"


async def test_tags_of_one_job_do_not_stick_to_another_event(app: Windlass, kept: Kept) -> None:
    app.observe(Sentry())

    @app.task
    async def fail() -> None:
        raise Fatal("no")

    await fail.aenqueue()
    await work(app)
    sentry_sdk.capture_message("something else")
    assert len(kept.events) == 2 and not kept.events[1].get("tags")


@pytest.fixture
def plain() -> Iterator[Kept]:
    """Sentry with the integration of `logging`, as `init` sets it up by itself."""
    transport = Kept()
    ignored = set(sentry_logging._IGNORED_LOGGERS)
    with sentry_sdk.isolation_scope():
        sentry_sdk.init(
            "https://key@example.org/1",
            transport=transport,
            default_integrations=False,
            auto_enabling_integrations=False,
            integrations=[sentry_logging.LoggingIntegration()],
        )
        yield transport
        sentry_sdk.init(default_integrations=False, auto_enabling_integrations=False)
    sentry_logging._IGNORED_LOGGERS.clear()
    sentry_logging._IGNORED_LOGGERS.update(ignored)


async def fail_twice(app: Windlass) -> None:
    @app.task(max_retries=1, backoff=0)
    async def fail() -> None:
        raise ValueError("no luck")

    await fail.aenqueue()
    await work(app)


async def test_without_an_observer_a_dead_job_is_reported_by_its_log_line(
    app: Windlass, plain: Kept
) -> None:
    sentry_logging._IGNORED_LOGGERS.discard(JOBS)
    await fail_twice(app)
    (event,) = plain.events
    assert event["logger"] == JOBS and event["level"] == "error"
    (error,) = event["exception"]["values"]
    assert error["type"] == "ValueError"
    assert error["stacktrace"]["frames"][0]["function"] == "fail"


async def test_with_an_observer_it_is_reported_once_with_its_tags(
    app: Windlass, plain: Kept
) -> None:
    app.observe(Sentry())
    await fail_twice(app)
    (event,) = plain.events
    assert event["tags"]["windlass.state"] == "dead"


async def test_a_job_that_killed_its_worker_is_reported_once_either_way(
    app: Windlass, plain: Kept
) -> None:
    sentry_logging._IGNORED_LOGGERS.discard(JOBS)
    await lose_one(app, "first")
    (event,) = plain.events
    assert "LeaseExpired" in str(event["logentry"])
    app.observe(Sentry())
    await lose_one(app, "second")
    assert len(plain.events) == 2
    assert plain.events[1]["tags"]["windlass.task"] == "second"


async def lose_one(app: Windlass, name: str) -> None:
    """Have a worker die with the only attempt of a job."""
    await app.task(name=name, max_retries=0)(lambda: None).aenqueue()
    store = await app.client.store()
    await store.claim({"default": 1}, 1, 1, "gone")
    await asyncio.sleep(0.01)
    assert await Rescuer(store, app.registry, Leader(store, "me"), 5.0, "me").rescue() == 1


def test_when_to_report_is_one_of_two() -> None:
    with pytest.raises(InvalidOption, match="on is one of dead, failed; got 'always'"):
        Sentry(on="always")  # type: ignore[arg-type]
