# mypy: ignore-errors
"""Schedules keep the types of what they schedule."""

from typing import assert_type

from windlass import Context, JobHandle, Windlass

app = Windlass("memory://")


@app.cron("@daily")
def report() -> int:
    return 1


assert_type(report(), int)
assert_type(report.enqueue(), JobHandle[int])


@app.cron("@hourly", timezone="Europe/Berlin", missed="last", overlap="queue", queue="q")
async def tidy(days: int = 7) -> str:
    return "tidy"


assert_type(tidy.enqueue(3), JobHandle[str])
tidy.enqueue("x")  # expect: arg-type / reportArgumentType


@app.cron("@daily", name="b", args=[2])
@app.cron("@hourly", name="a", args=[1])
@app.task
async def count(number: int) -> float:
    return number / 2


assert_type(count.enqueue(1), JobHandle[float])


@app.cron("@daily", context=True)
async def own(ctx: Context) -> str:
    return ctx.id


assert_type(own.enqueue(), JobHandle[str])

app.cron("@daily", missed="some")  # expect: call-overload / reportArgumentType
app.schedules.add("x", "@daily", tidy.call(1), overlap="skip")
app.schedules.add("x", "@daily", tidy)  # expect: arg-type / reportArgumentType
app.schedules.change("x", text="@hourly", call=tidy.call(2))
app.schedules.change("x", txt="@hourly")  # expect: call-arg / reportCallIssue
