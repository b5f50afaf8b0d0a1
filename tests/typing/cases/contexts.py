# mypy: ignore-errors
"""A task that is declared with `context=True` leaves its context out of every call."""

from typing import assert_type

from windlass import Context, Windlass

app = Windlass("memory://")


@app.task(context=True)
def plain(context: Context, name: str) -> str:
    return f"{context.attempt} {name}"


@app.task(context=True, queue="mail")
def with_options(context: Context, name: str, *, loud: bool = False) -> int:
    return context.fence


@app.task(context=True)
async def plain_async(context: Context, name: str) -> str:
    return context.id


@app.task(context=True, max_retries=1)
async def async_with_options(context: Context, name: str) -> bytes:
    return name.encode()


@app.task(context=True)
def only_a_context(context: Context) -> str:
    return context.id


def right_calls() -> None:
    assert_type(plain.enqueue("Ada").result(), str)
    assert_type(with_options.enqueue("Ada", loud=True).result(), int)
    assert_type(plain_async.enqueue("Ada").result(), str)
    assert_type(async_with_options.enqueue(name="Ada").result(), bytes)
    assert_type(only_a_context.enqueue().result(), str)
    assert_type(plain("Ada"), str)
    plain.using(delay=5).enqueue("Ada")


async def right_async_calls() -> None:
    assert_type(await plain_async("Ada"), str)
    assert_type(await (await async_with_options.aenqueue("Ada")).aresult(), bytes)


def wrong_calls(context: Context) -> None:
    plain.enqueue()  # expect: call-arg / reportCallIssue
    plain.enqueue(context, "Ada")  # expect: arg-type call-arg / reportCallIssue
    with_options.enqueue("Ada", loud="very")  # expect: arg-type / reportArgumentType
    plain_async.enqueue(7)  # expect: arg-type / reportArgumentType
    async_with_options.call()  # expect: call-arg / reportCallIssue
    only_a_context.enqueue("Ada")  # expect: call-arg / reportCallIssue
    plain("Ada", context=context)  # expect: call-arg / reportCallIssue


async def wrong_async_calls() -> None:
    await plain_async.aenqueue(7)  # expect: arg-type / reportArgumentType
    await async_with_options.aenqueue("Ada", 1)  # expect: call-arg / reportCallIssue


def wrong_declarations() -> None:
    def no_context(name: str) -> None: ...

    def nothing() -> None: ...

    app.task(context=True)(no_context)  # expect: arg-type / reportArgumentType reportCallIssue
    app.task(context=True)(nothing)  # expect: arg-type / reportArgumentType reportCallIssue
    app.task(context=True, retries=5)  # expect: call-overload / reportCallIssue


@app.task(context=True)
def in_a_transaction(context: Context) -> int:
    transaction = context.transaction()
    with transaction as connection:
        transaction.result = connection.execute("SELECT 1").fetchone()[0]
    with context.transaction(result=7):  # expect: call-arg / reportCallIssue
        return 7


@app.task(context=True)
async def in_an_async_transaction(context: Context) -> None:
    async with context.transaction() as connection:
        await connection.execute("SELECT 1")
