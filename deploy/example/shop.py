"""A small shop: the app that the files in deploy/ run. Put yours in its place."""

from windlass import Windlass

app = Windlass()


@app.task(queue="mail", max_retries=5, timeout=30)
def send(address: str, text: str = "Thank you!") -> str:
    return f"sent to {address}: {text}"


@app.task
async def total(prices: list[float]) -> float:
    return sum(prices)


@app.cron("0 3 * * *", timezone="Europe/Berlin")
async def report() -> None:
    await total.aenqueue([3.5, 4.5])
