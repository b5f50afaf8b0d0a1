# mypy: ignore-errors
"""A middleware has some of three methods, each with its own shape."""

from typing import Any, assert_type

from windlass import Middleware, Veto, Windlass
from windlass.middleware import Attempt, CallNext, NewJob, Receipt, changed


class All(Middleware):
    def enqueue(self, job: NewJob) -> NewJob:
        if job.queue == "closed":
            raise Veto("it is closed")
        assert_type(changed(job, queue="mail"), NewJob)
        return changed(job, headers={"trace": "1"}, delay=5)

    def enqueued(self, job: NewJob, receipt: Receipt) -> None:
        assert_type(receipt.duplicate, bool)

    async def run(self, attempt: Attempt, call_next: CallNext) -> Any:
        assert_type(attempt.args, list[Any])
        assert_type(attempt.headers.get("trace"), str | None)
        return await call_next()


class OnlyRun(Middleware):
    async def run(self, attempt: Attempt, call_next: CallNext) -> str:
        return str(await call_next())


app = Windlass("memory://", middleware=[All(), OnlyRun()])
app.add_middleware(OnlyRun())


class Wrong(Middleware):
    def enqueue(self, job: str) -> NewJob:  # expect: override / reportIncompatibleMethodOverride
        raise Veto

    def enqueued(self, job: NewJob) -> None:  # expect: override / reportIncompatibleMethodOverride
        ...


class NotAsync(Middleware):
    def run(  # expect: override / reportIncompatibleMethodOverride
        self, attempt: Attempt, call_next: CallNext
    ) -> None: ...


def wrong_calls(job: NewJob) -> None:
    app.add_middleware(OnlyRun)  # expect: arg-type / reportArgumentType
    Windlass("memory://", middleware=[print])  # expect: list-item / reportArgumentType
    changed(job, headers={"trace": 1})  # expect: dict-item / reportArgumentType
    changed(job, quue="mail")  # expect: call-arg / reportCallIssue
