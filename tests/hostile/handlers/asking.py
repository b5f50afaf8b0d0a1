"""Handlers that ask their context for what cannot be: transactions, checkpoints, signals."""

import os
from typing import Any

from tests.hostile.handlers.case import DEAD, DONE, FAILS, PARKED, Table
from tests.hostile.handlers.meddling import LATE, LONG, spin
from windlass import Context

TELLS = Table("tells of its progress")
ASKS = Table("uses the store")
TABLES = (TELLS, ASKS)


@TELLS.row("`progress(nan)`", FAILS, "InvalidOption", "progress is a number from 0 to 100")
def progress_of_no_number(ctx: Context) -> None:
    ctx.progress(float("nan"))


@TELLS.row("`progress(1e308)`", DONE)
def progress_beyond(ctx: Context) -> None:
    ctx.progress(1e308)


@TELLS.row("`progress(100.00000000000001)`", DONE)
def progress_rounded(ctx: Context) -> None:
    ctx.progress(100.00000000000001)


@TELLS.row("`progress(10**400)`", DONE)
def progress_far_beyond(ctx: Context) -> None:
    ctx.progress(10**400)


@TELLS.row(
    "progress with a message that is no text", FAILS, "InvalidOption", "is a text; got b'caf'"
)
def progress_in_bytes(ctx: Context) -> None:
    ctx.progress(50, b"caf")  # type: ignore[arg-type]


@TELLS.row('`progress("half")`', FAILS, "InvalidOption", "got 'half'")
def progress_in_words(ctx: Context) -> None:
    ctx.progress("half")  # type: ignore[arg-type]


@TELLS.row("progress with a message that is no UTF-8", DONE)
def progress_of_a_file(ctx: Context) -> None:
    ctx.progress(50, f"packing {os.fsdecode(b'caf' + bytes([0xE9]))}.jpg")


@TELLS.row("progress with a message of 10 MB", DONE)
def progress_in_full(ctx: Context) -> None:
    ctx.progress(50, "m" * 10_000_000)


SQL = {"stores": "sql", "on": "t"}


@ASKS.row("a transaction, and raises in it", FAILS, "ValueError", "undone", **SQL)
def raise_in_a_transaction(ctx: Context) -> None:
    with ctx.transaction():
        raise ValueError("undone")


@ASKS.row("a transaction in which SQL fails", FAILS, "", "nowhere", **SQL)
def fail_in_a_transaction(ctx: Context) -> None:
    with ctx.transaction() as connection:
        connection.cursor().execute("SELECT * FROM nowhere")


@ASKS.row("a transaction, and raises after it", DONE, **SQL)
def raise_after_a_transaction(ctx: Context) -> None:
    with ctx.transaction():
        pass
    raise ValueError("too late")


@ASKS.row("a transaction in another", FAILS, "UsageError", "in a transaction already", **SQL)
def nest_transactions(ctx: Context) -> None:
    with ctx.transaction(), ctx.transaction():
        pass


@ASKS.row("a transaction, and runs out of time in it", FAILS, *LATE, timeout=LONG, **SQL)
def hold_a_transaction(ctx: Context) -> None:
    with ctx.transaction():
        spin()


@ASKS.row(
    "a transaction on Redis", FAILS, "UsageError", "needs a store on SQL", stores="redis", on="t"
)
@ASKS.row("a transaction in a child", FAILS, "UsageError", "is not for process=True", on="p")
@ASKS.row("a transaction as a `def`", FAILS, "WouldBlock", "async with", stores="sql", on="a")
def misplace_a_transaction(ctx: Context) -> None:
    with ctx.transaction():
        pass


@ASKS.row("a checkpoint that cannot be encoded", FAILS, "UnencodableValue", "", on="tp")
def keep_a_function(ctx: Context) -> None:
    ctx.checkpoint(lambda: 0)


@ASKS.row("a checkpoint of 2 MB", DEAD, "PayloadTooLarge", "The checkpoints of")
async def keep_too_much(ctx: Context) -> None:
    await ctx.acheckpoint(b"x" * 2_000_000)


@ASKS.row(
    "a checkpoint that contains itself", FAILS, "UnencodableValue", "contains itself", on="tp"
)
def keep_a_cycle(ctx: Context) -> None:
    value: list[Any] = []
    value.append(value)
    ctx.checkpoint(value)


@ASKS.row("`wait_for` with an empty name", FAILS, "InvalidOption", "name of a signal", on="tp")
def wait_for_nothing(ctx: Context) -> None:
    ctx.wait_for("")


@ASKS.row("`wait_for` with a name that is no UTF-8", FAILS, "InvalidOption", "printable", on="tp")
def wait_for_a_surrogate(ctx: Context) -> None:
    ctx.wait_for("caf\udce9")


@ASKS.row("`wait_for` with a timeout of `nan`", FAILS, "InvalidOption", "timeout must be", on="tp")
def wait_for_no_number(ctx: Context) -> None:
    ctx.wait_for("approval", float("nan"))


@ASKS.row("`wait_for`, and catches every `Exception`", PARKED, on="tp")
def wait_and_catch(ctx: Context) -> None:
    try:
        ctx.wait_for("approval")
    except Exception:
        return


@ASKS.row("`await_for` with a timeout of 1e17", FAILS, "InvalidOption", "at most 100 years")
async def await_for_an_age(ctx: Context) -> None:
    await ctx.await_for("approval", 1e17)
