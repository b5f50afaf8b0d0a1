"""The service `Jobs`: for producers and operators."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import aclosing
from itertools import accumulate
from typing import Any, Final

from msgspec.structs import replace

from ...admin.change import CANCEL, Answer, Change, change_jobs, delete
from ...core.ids import checked_id
from ...core.model import JobQuery, NewJob, Receipt
from ...core.name import checked_name
from ...errors import InvalidOption
from ...protocol import windlass_pb2 as pb
from ..checked import refuse_unstorable
from ..faults import TooLarge
from ..site import Site
from ..storing import store_jobs
from ..together import get_within
from .answers import job_message, receipt, receipts
from .call import Call
from .moulds import Moulds
from .requests import states
from .watching import watched

PAGE: Final = 100

PAGE_BYTES: Final = 3 * 1024 * 1024
"""What the jobs of a page take at most: clients refuse messages of more than 4 MiB by default."""

MOST_NAMED: Final = 20
"""So many of the jobs that were changed are named in the audit log."""


class Jobs:
    """Answers out of the store of a site."""

    def __init__(self, site: Site) -> None:
        self._offers = site.offers
        self._moulds = Moulds(site.offers)

    async def enqueue(self, call: Call[pb.EnqueueRequest]) -> pb.EnqueueResponse:
        job = self._moulds.job(call.request.job)
        (made,) = await self._store(call, [job])
        return pb.EnqueueResponse(receipt=receipt(made))

    async def enqueue_many(self, call: Call[pb.EnqueueManyRequest]) -> pb.EnqueueManyResponse:
        asked = call.request.jobs
        if not asked:
            raise InvalidOption("EnqueueMany needs a job at least.")
        call.bound(len(asked), "jobs")
        jobs = [*map(self._moulds.job, asked)]
        return receipts(await self._store(call, jobs))

    async def _store(self, call: Call[Any], jobs: Sequence[NewJob]) -> Sequence[Receipt]:
        call.site.limits.refuse_other(call.caller, jobs, made_here=True)
        return await store_jobs(call.site.store, call.caller, jobs, self._offers.enqueue)

    async def get(self, call: Call[pb.GetRequest]) -> pb.GetResponse:
        ids = _ids(call)
        found = await get_within(call.store, ids)
        size = sum(len(job.result or b"") for job in found.values())
        if size > call.site.settings.max_body:
            raise TooLarge(f"The results of these jobs take {size:,} bytes; ask for fewer jobs.")
        return pb.GetResponse(jobs=[job_message(found[id]) for id in ids if id in found])

    async def list(self, call: Call[pb.ListRequest]) -> pb.ListResponse:
        asked = call.request
        if asked.limit < 0:
            raise InvalidOption("limit is a number of jobs, or 0 for as many as usual.")
        call.bound(asked.limit, "jobs on a page")
        refuse_unstorable(asked.cursor, "cursor")
        query = JobQuery(
            states=states(asked.states),
            queue=checked_name(asked.queue, "name of a queue") if asked.queue else None,
            task=checked_name(asked.task, "name of a task") if asked.task else None,
            limit=asked.limit or PAGE,
            cursor=asked.cursor or None,
            brief=True,
        )
        page = await call.store.find(query)
        room = _room([job_message(job, brief=True).ByteSize() for job in page.jobs])
        if room < len(page.jobs):
            # A cursor is always at the end of a page.
            page = await call.store.find(replace(query, limit=room))
        jobs = [job_message(job, brief=True) for job in page.jobs]
        return pb.ListResponse(jobs=jobs, cursor=page.cursor)

    async def watch(self, call: Call[pb.WatchRequest]) -> AsyncIterator[pb.WatchResponse]:
        async with aclosing(watched(call.site, call.store, _ids(call))) as found:
            async for id, job in found:
                yield pb.WatchResponse(id=id, job=None if job is None else job_message(job))

    async def cancel(self, call: Call[pb.CancelRequest]) -> pb.CancelResponse:
        answer = await _changed(call, "cancel", CANCEL)
        return pb.CancelResponse(changed=answer.changed, refused=answer.refused)

    async def delete(self, call: Call[pb.DeleteRequest]) -> pb.DeleteResponse:
        answer = await _changed(call, "delete", delete())
        return pb.DeleteResponse(changed=answer.changed, refused=answer.refused)


def _room(sizes: Sequence[int]) -> int:
    """How many of these messages fit on a page, one at least."""
    sums = [*accumulate(sizes)]
    return max(bisect_right(sums, PAGE_BYTES), 1)


async def _changed(call: Call[Any], action: str, change: Change) -> Answer:
    answer = await change_jobs(call.store, change, _ids(call))
    call.audit(action, ids=answer.changed[:MOST_NAMED], changed=len(answer.changed))
    return answer


def _ids(call: Call[Any]) -> list[str]:
    """The ids that a request names, each once."""
    ids: Iterable[str] = call.request.ids
    checked = [*dict.fromkeys(map(checked_id, ids))]
    if not checked:
        raise InvalidOption("ids names a job at least.")
    call.bound(len(checked), "ids")
    return checked
