"""A worker that speaks HTTP, as one in any language would."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from tests.server.serving import Answer, Served
from windlass.core.model import Lease
from windlass.core.outcome import Lost, decide
from windlass.stores.contract import Store

PATIENCE = 30.0


class HttpWorker:
    """Sends one request for each word."""

    def __init__(self, api: Served, name: str = "w", key: str | None = None) -> None:
        self.api = api
        self.name = name
        self.key = key

    async def ask(self, verb: str, body: Mapping[str, Any], query: str = "") -> Answer:
        return await self.api.post(f"work/{verb}{query}", body, key=self.key)

    async def said(self, verb: str, *jobs: Mapping[str, Any], **rest: Any) -> Any:
        """What the server answers to a word on some jobs."""
        answer = await self.ask(verb, {"jobs": [*jobs], **rest})
        assert answer.status == 200, answer
        return answer.json

    async def fetch(self, *queues: Any, wait: float = 0, **rest: Any) -> list[dict[str, Any]]:
        body = {"worker": self.name, "queues": queues or ["default"], "limit": 10, **rest}
        answer = await self.ask("fetch", body, f"?wait={wait}")
        assert answer.status == 200, answer
        jobs: list[dict[str, Any]] = answer.json["jobs"]
        return jobs


def lease(job: Mapping[str, Any], **word: Any) -> dict[str, Any]:
    """What a word on a job begins with."""
    return {"id": job["id"], "fence": job["fence"], **word}


async def lose(store: Store, job: Mapping[str, Any]) -> None:
    """Let a lease run out, and the job be rescued and be pending again."""
    await store.renew([Lease(job["id"], job["fence"])], 1)
    (rescued,) = await until(lambda: store.rescue(1, 30_000, "rescuer"))
    await store.finish([decide(rescued, Lost())])
    await store.reschedule([job["id"]])


async def until(condition: Callable[[], Any]) -> Any:
    """What an async function gives, once it is something."""
    async with asyncio.timeout(PATIENCE):
        while not (found := await condition()):
            await asyncio.sleep(0.01)
    return found


async def stands(api: Served, number: int) -> None:
    """Wait until so many stand in line for jobs."""

    async def standing() -> bool:
        lines = api.site.workers.fetches._lines.values()
        return sum(len(line._waiting) for line in lines) == number

    await until(standing)
