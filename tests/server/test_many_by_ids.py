"""Requests that name many jobs."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from tests.server.serving import Served
from windlass.core.model import Job
from windlass.members import FEW
from windlass.server.grpc.watching import watched
from windlass.server.http.events import MOST_FOLLOWED
from windlass.server.together import get_within


async def test_whoever_names_many_jobs_has_few_of_them_read_at_once(
    bare: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each can be as large as a job may be, whether or not the caller has to do with it."""
    ids = [await bare.enqueue("add", number) for number in range(MOST_FOLLOWED)]
    real, read = bare.store.get, list[int]()

    async def get(asked: Sequence[str]) -> Mapping[str, Job]:
        read.append(len(asked))
        return await real(asked)

    monkeypatch.setattr(bare.store, "get", get)
    held = [{"id": id, "fence": 1} for id in ids]
    asked: list[tuple[str, Any]] = [
        ("work/ack", {"jobs": held}),
        ("work/nack", {"jobs": held}),
        ("work/release", {"jobs": held}),
        ("work/checkpoint", {"jobs": [each | {"state": 1} for each in held]}),
        ("work/progress", {"jobs": [each | {"percent": 1} for each in held]}),
        ("jobs/bulk", {"action": "replay", "ids": ids}),
        ("jobs/bulk", {"action": "cancel", "ids": ids}),
    ]
    for path, body in asked:
        read.clear()
        answer = await bare.post(path, body)
        assert answer.status in (200, 409), answer
        assert max(read) <= FEW, path
    read.clear()
    query = "&".join(f"job={id}" for id in ids)
    events = await bare.get(f"events?{query}")
    assert events.body.count(b"event: job") == len(ids)
    assert max(read) <= FEW
    read.clear()
    told = [id async for id, _ in watched(bare.site, bare.store, ids)]
    assert told == ids
    assert max(read) <= FEW
    read.clear()
    assert len(await get_within(bare.store, ids)) == len(ids)
    assert max(read) <= FEW
