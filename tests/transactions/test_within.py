"""What cannot be done within a transaction of a handler is refused at once, and harms nobody."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.transactions.conftest import ENGINES
from tests.transactions.engines import Engine
from windlass import Context, State, Windlass
from windlass.errors import LeaseLost, UsageError
from windlass.testing.work import counts, work

ON_THE_LOOP = pytest.mark.parametrize("lender", ENGINES, indirect=True)
ANYWHERE = pytest.mark.parametrize("lender", ["sqlite"], indirect=True)


@pytest.fixture
async def app(lender: Engine) -> AsyncIterator[Windlass]:
    app = lender.app()
    yield app
    await app.aclose()
    app.close()


@ON_THE_LOOP
async def test_a_transaction_within_another_is_refused_at_once(app: Windlass) -> None:
    """On SQLite the second would wait for the first, as would all other writers."""

    @app.task(context=True, max_retries=0)
    async def nest(context: Context) -> None:
        async with context.transaction(), context.transaction():
            pass

    @app.task(context=True, max_retries=0)
    def nest_too(context: Context) -> None:
        with context.transaction(), context.transaction():
            pass

    jobs = [await nest.aenqueue(), await nest_too.aenqueue()]
    await work(app)
    for job in jobs:
        found = await job.aget()
        assert found.state is State.DEAD
        assert found.error is not None and found.error.kind == "UsageError"
        assert "is in a transaction already" in found.error.message


@ANYWHERE
async def test_what_would_wait_for_its_own_transaction_on_sqlite_is_refused(app: Windlass) -> None:
    said: list[str] = []

    @app.task
    async def other() -> None: ...

    def note(error: UsageError) -> None:
        said.append(str(error))

    @app.task(context=True)
    async def waits(context: Context) -> str:
        async with context.transaction() as connection:
            for act in (lambda: other.aenqueue(), lambda: context.acheckpoint(1)):
                try:
                    await act()
                except UsageError as error:
                    note(error)
            await other.using(connection=connection).aenqueue()
        return (await other.aenqueue()).id

    @app.task(context=True)
    def waits_too(context: Context) -> None:
        with context.transaction() as connection:
            for act in (lambda: other.enqueue(), lambda: context.checkpoint(1)):
                try:
                    act()
                except UsageError as error:
                    note(error)
            other.using(connection=connection).enqueue()
        other.enqueue()

    jobs = [await waits.aenqueue(), await waits_too.aenqueue()]
    began = asyncio.get_running_loop().time()
    await work(app)
    assert asyncio.get_running_loop().time() - began < 20
    assert [(await job.aget()).state for job in jobs] == [State.COMPLETED] * 2
    assert (await counts(await app.client.store())) == {State.COMPLETED: 6}
    assert len(said) == 4
    assert all("have to wait for the transaction of its own handler" in each for each in said)


@ANYWHERE
async def test_a_handler_that_raises_lease_lost_itself_has_failed(app: Windlass) -> None:
    @app.task(max_retries=0)
    async def says_so() -> None:
        raise LeaseLost("the lease of something else")

    job = await says_so.aenqueue()
    await work(app)
    found = await job.aget()
    assert (found.state, found.error and found.error.kind) == (State.DEAD, "LeaseLost")
