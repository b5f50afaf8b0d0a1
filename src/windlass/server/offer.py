"""A job as a request describes it, and the job that is made of it.

With an app its tasks are the only ones, their own options hold, and arguments must fit their
signatures. Without one any name and any arguments are taken, written as JSON, which workers in
every language read.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from datetime import datetime
from typing import Annotated, Any, Final, Literal, get_args

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import asdict, astuple, replace

from ..app import Windlass
from ..core.binding import with_key_in_new_id
from ..core.codec import JSON, Codec, Codecs
from ..core.limit import Limit
from ..core.model import Conflict, NewJob, Receipt
from ..core.options import CHECKS, Options
from ..definition import elsewhere
from ..errors import CorruptRecord, InvalidOption
from ..middleware import changed
from ..task import Task, Wire
from ..workflows.order import refuse_disorder
from ..workflows.outline import OWN_TASKS
from .mould import NO_TYPE, Mould, call_in

Text = Annotated[str, msgspec.Meta(min_length=1, max_length=128)]
Priority = Annotated[int, msgspec.Meta(ge=0, le=100)] | Literal["low", "default", "high"]
Seconds = Annotated[float, msgspec.Meta(ge=0)]


class LimitRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A limit that jobs share: see the option `limit` of a task."""

    rate: str | None = None
    burst: int | None = None
    window: bool = False
    concurrency: int | None = None
    key: str | None = None
    name: str | None = None


class JobRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """A job to store. Times are in seconds; what is left out is as the task says."""

    task: Text
    args: list[Any] | UnsetType = UNSET
    """the arguments by position"""
    kwargs: dict[str, Any] | UnsetType = UNSET
    """the arguments by name"""
    payload: bytes | UnsetType = UNSET
    """instead of these: the arguments as they are stored, in the content type that is given"""
    content_type: Text | UnsetType = UNSET
    """how the arguments are stored: json, msgpack, protobuf, or a codec of the app"""
    headers: dict[str, str] | UnsetType = UNSET
    """texts that go along with the job"""
    id: Text | UnsetType = UNSET
    """storing another job of this id changes nothing"""
    queue: Text | UnsetType = UNSET
    priority: Priority | UnsetType = UNSET
    max_retries: Annotated[int, msgspec.Meta(ge=0, lt=2**31)] | UnsetType = UNSET
    timeout: Seconds | UnsetType | None = UNSET
    """seconds that one run may take"""
    keep: Seconds | UnsetType = UNSET
    """how long the job is kept once it is over"""
    delay: Seconds | UnsetType = UNSET
    at: Annotated[datetime, msgspec.Meta(tz=True)] | UnsetType = UNSET
    labels: dict[str, str] | UnsetType = UNSET
    expires_in: Seconds | UnsetType | None = UNSET
    expires_at: Annotated[datetime, msgspec.Meta(tz=True)] | UnsetType | None = UNSET
    depends_on: list[Text] | UnsetType = UNSET
    orphaned: Literal["cancel", "run"] | UnsetType = UNSET
    unique: str | bool | UnsetType | None = UNSET
    unique_for: Seconds | Literal["finished", "started"] | UnsetType = UNSET
    on_conflict: Literal["reject", "replace", "last"] | UnsetType = UNSET
    limit: LimitRequest | UnsetType | None = UNSET
    sequence: str | UnsetType | None = UNSET
    group: str | UnsetType | None = UNSET
    weight: int | UnsetType = UNSET


OPTIONS: Final = tuple(name for name in JobRequest.__struct_fields__ if name in CHECKS)
AFTER_ID: Final = JobRequest.__struct_fields__.index("id") + 1
"""From here on there are options that many jobs may have in common, and nothing else."""

MOST_MOULDS: Final = 500
"""Moulds that are remembered; then it begins anew."""


class Offers:
    """Makes jobs of requests and brings them to the store."""

    def __init__(self, app: Windlass, *, has_tasks: bool) -> None:
        self._app = app
        self._has_tasks = has_tasks
        codecs = app.codecs if has_tasks else Codecs(JSON, limit=app.codecs.limit)
        self._wire = app.wire._replace(codecs=codecs)
        self._wires: dict[str, Wire] = {}
        self._moulds: dict[Hashable, Mould] = {}
        """by task and options; most jobs differ in their arguments alone"""

    @property
    def max_payload(self) -> int:
        return self._wire.max_payload

    def job(self, request: JobRequest) -> NewJob:
        """The job, with everything about it checked."""
        if request.payload is not UNSET or request.headers is not UNSET:
            return self._single(request)
        try:
            key = request.task, request.content_type, astuple(request)[AFTER_ID:]
            mould = self._moulds.get(key)
        except TypeError:
            # An option that is a list or an object.
            return self._single(request)
        if mould is None:
            mould = self._add(key, request)
        args, kwargs = self._arguments(request)
        return mould.call(args, kwargs, request.id or "")

    def _add(self, key: Hashable, request: JobRequest) -> Mould:
        mould = self.mould(replace(request, id=UNSET))
        if len(self._moulds) >= MOST_MOULDS:
            self._moulds.clear()
        self._moulds[key] = mould
        return mould

    def _single(self, request: JobRequest) -> NewJob:
        task = self._used(request)
        args, kwargs = self._arguments(request)
        made = task.call(*args, **kwargs).job
        if self._app.codecs.reads_encrypted:
            made = with_key_in_new_id(made)
        return changed(made, headers=request.headers) if request.headers else made

    def mould(self, request: JobRequest) -> Mould:
        """What makes jobs as a request describes them, but for arguments and ids."""
        task, codec = self._used(request), self._codec(request)
        return Mould(
            task,
            codec,
            self.max_payload,
            request.headers,
            checks=self._has_tasks,
            is_typed=request.content_type is not UNSET,
            marks=self._app.codecs.reads_encrypted,
        )

    def _used(self, request: JobRequest) -> Task[..., Any, Any]:
        """The task with the options of a request."""
        task = self._task(request)
        options: dict[str, Any] = {
            name: value for name in OPTIONS if (value := getattr(request, name)) is not UNSET
        }
        conflict = options.get("on_conflict", "reject")
        if conflict not in get_args(Conflict):
            raise InvalidOption(f"on_conflict is reject, replace or last; got {conflict!r}.")
        limit = options.get("limit")
        if limit is not None:
            options["limit"] = Limit(**asdict(limit))
        return task.using(**options) if options else task

    def refuse_unknown(self, task: str) -> None:
        """Raise for a task that the app does not have, if there is an app."""
        if self._has_tasks:
            _ = self._app.registry[task]

    async def enqueue(self, jobs: Sequence[NewJob]) -> Sequence[Receipt]:
        """Store jobs in one step, together with those of other requests."""
        stack = self._wire.middleware
        ready = stack.before(jobs)
        refuse_disorder(ready)

        def made(stored: Sequence[NewJob], receipts: Sequence[Receipt]) -> Sequence[Receipt]:
            stack.after(stored, receipts)
            return receipts

        return await self._app.client.enqueue(ready, made)

    def _task(self, request: JobRequest) -> Task[..., Any, Any]:
        if request.task in OWN_TASKS:
            # Whoever runs it stores other jobs, which nobody would have checked.
            raise InvalidOption(f"{request.task} is a task of Windlass itself.")
        wire = self._wire
        if request.content_type is not UNSET:
            wire = self._wire_of(request.content_type)
        if not self._has_tasks:
            return Task(elsewhere(request.task), Options(), wire)
        task = self._app.tasks[self._app.registry[request.task].name]
        return task if wire is self._wire else Task(task.definition, task.options, wire)

    def _wire_of(self, content_type: str) -> Wire:
        """One that writes in this content type."""
        if content_type not in self._wires:
            try:
                codec: Codec = self._wire.codecs.get(content_type)
            except CorruptRecord:
                self.refuse_unencrypted(content_type)
                raise InvalidOption(
                    f"content_type is json, msgpack or protobuf, or a codec of the app; got "
                    f"{content_type!r}."
                ) from None
            self._wires[content_type] = self._wire._replace(codecs=Codecs(codec))
        return self._wires[content_type]

    def refuse_unencrypted(self, content_type: str) -> None:
        """Raise for what an app that encrypts does not read, if it is that."""
        if self._wire.codecs.refuses(content_type):
            raise InvalidOption(
                f"The app encrypts its payloads, and {content_type} is not encrypted: send args "
                "and kwargs without a content type, or a payload that is encrypted."
            )

    def _codec(self, request: JobRequest) -> Codec:
        if request.content_type is UNSET:
            return self._wire.codecs.default
        return self._wire_of(request.content_type).codecs.default

    def _arguments(self, request: JobRequest) -> tuple[list[Any], dict[str, Any]]:
        if request.payload is UNSET:
            args = [] if request.args is UNSET else request.args
            return args, {} if request.kwargs is UNSET else request.kwargs
        if request.args is not UNSET or request.kwargs is not UNSET:
            raise InvalidOption("Give args and kwargs, or payload, not both.")
        if request.content_type is UNSET:
            raise InvalidOption(NO_TYPE)
        return call_in(self._codec(request), request.payload, request.id or "", request.task)
