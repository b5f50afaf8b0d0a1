"""Jobs: listed, looked at and waited for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

import msgspec

from ...admin.facts import look
from ...admin.record import FullRecord, JobRecord, record
from ...admin.scan import Found, scan
from ...admin.selection import Sieve
from ...admin.why import explain
from ...client import get_job
from ...core.ids import checked_id
from ...core.model import JobQuery, Progress
from ...core.name import checked_name
from ...core.states import FINISHED, State
from ...errors import UnknownJob
from ...stores.contract import Store
from ..offer import Seconds
from .call import Call, Reply
from .preview import previews
from .shown import shown
from .sieve import Filters, sieve_of

MOST_LISTED: Final = 1_000
Limit = Annotated[int, msgspec.Meta(ge=1, le=MOST_LISTED)]


class JobsQuery(Filters, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which jobs to list."""

    state: tuple[State, ...] = ()
    queue: str | None = None
    task: str | None = None
    limit: Limit = 100
    cursor: str | None = None
    preview: bool = False
    """with the beginning of their arguments"""


class JobPage(msgspec.Struct, frozen=True):
    """Jobs, and where the listing goes on: no cursor on the last page. A page that has one may be
    short, even empty, if few jobs of many match."""

    jobs: Sequence[JobRecord]
    cursor: str | None
    looked_at: int = 0
    """jobs that were looked at for this page"""
    previews: Mapping[str, str] = {}
    """if asked for: by their ids, the beginning of what jobs were given, where it can be read"""


async def find_jobs(call: Call[JobsQuery, None]) -> JobPage:
    """List jobs, page by page."""
    asked = call.query
    query = JobQuery(
        states=asked.state,
        queue=asked_queue(asked.queue),
        task=asked_task(asked.task),
        limit=asked.limit,
        cursor=asked.cursor,
        brief=not (asked.preview or asked.argument),
    )
    found = await scan(call.store, query, sieve_of(call.site, asked))
    return page_of(found, previews(call.site, found.jobs) if asked.preview else {})


async def listed(store: Store, query: JobQuery, sieve: Sieve) -> JobPage:
    """As many jobs as asked for, unless that takes too many looks: the client can go on."""
    return page_of(await scan(store, query, sieve))


def page_of(found: Found, begun: Mapping[str, str] = {}) -> JobPage:
    return JobPage([record(job) for job in found.jobs], found.cursor, found.looked_at, begun)


def asked_queue(name: str | None) -> str | None:
    """The name of a queue to look for; not every engine takes any text."""
    return None if name is None else checked_name(name, "name of a queue")


def asked_task(name: str | None) -> str | None:
    return None if name is None else checked_name(name, "name of a task")


async def get_one(call: Call[None, None]) -> FullRecord:
    """Show a job, with its arguments and its result."""
    return shown(call.site, await get_job(call.store, id_in(call)))


class WaitQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How long to wait for the end of a job."""

    wait: Seconds = 0.0


class Result(msgspec.Struct, frozen=True):
    """What a job came to, if it has ended."""

    id: str
    state: State
    result: Any
    error: Any


async def get_result(call: Call[WaitQuery, None]) -> Result:
    """Get the result of a job, waiting for it if asked; 202 while it has not ended."""
    id = id_in(call)
    await get_job(call.store, id)
    job = await call.site.watcher.end(id, call.wait(call.query.wait))
    if job is None:
        raise UnknownJob(f"There is no job {id}: it was deleted, or not kept.")
    full = shown(call.site, job)
    answer = Result(id, job.state, full.result, full.error if job.state is State.DEAD else None)
    return Reply(answer, 200 if job.state in FINISHED else 202)  # type: ignore[return-value]


class Standing(msgspec.Struct, frozen=True):
    """How far a job has come, in the words of its handler."""

    id: str
    state: State
    progress: Progress | None


async def get_progress(call: Call[None, None]) -> Standing:
    """Show how far a job has come."""
    job = await get_job(call.store, id_in(call))
    return Standing(job.id, job.state, job.progress)


class Why(msgspec.Struct, frozen=True):
    """Why a job is not running; `code` is one word of a fixed set."""

    id: str
    state: State
    code: str
    reason: str


async def get_why(call: Call[None, None]) -> Why:
    """Tell why a job is not running."""
    facts = await look(call.store, id_in(call), await call.store.now())
    code, sentence = explain(facts)
    return Why(facts.job.id, facts.job.state, code, sentence)


def id_in(call: Call[Any, Any]) -> str:
    """The id of the job that the address names."""
    return checked_id(call.path["id"])
