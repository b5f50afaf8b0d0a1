"""What is done with claimed jobs before a worker in another language gets them.

All that the worker in Python does before it calls a handler, and that needs the store: see
`worker/runner.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ..core.codec import Codecs, decode_call, encode_call
from ..core.model import Job
from ..core.outcome import Released, decide
from ..core.retry import DEFAULT_RETRY
from ..errors import Fatal, UnencodableValue
from ..worker.attempt import failed
from ..workflows.outline import KEYS
from .chores import Chores


class Handout:
    """Makes claimed jobs ready to be handed over, and gives back those that cannot be."""

    def __init__(self, codecs: Codecs, chores: Chores) -> None:
        self._codecs = codecs
        self._chores = chores

    async def ready(self, jobs: Sequence[Job], most: int) -> list[Job]:
        """Those that the worker is to run, with their whole payloads, about `most` bytes in all.

        At least one, if there is any: a job that is too large would else wait for ever.
        """
        own = [job for job in jobs if self._chores.is_for(job)]
        if own:
            await self._chores.take(own)
        ready: list[Job] = []
        for job in jobs:
            whole = None if job in own else await self._whole(job)
            if whole is None:
                continue
            most -= len(whole.spec.payload) + len(whole.checkpoint or b"")
            if most < 0 and ready:
                self.give_back([job])
            else:
                ready.append(whole)
        return ready

    def give_back(self, jobs: Sequence[Job]) -> None:
        """Release jobs that nobody is going to run; it costs them no attempt."""
        for job in jobs:
            self._chores.end(job, decide(job, Released()))

    def fail(self, job: Job, error: Exception) -> None:
        """End a claimed job by an error, as a worker in Python does."""
        self._chores.end(job, failed(job, error, DEFAULT_RETRY))

    async def _whole(self, job: Job) -> Job | None:
        """The job with the results of its parents among its arguments; None if that cannot be."""
        spec = job.spec
        refused = self._codecs.refuses(spec.content_type) and spec.task != KEYS
        if not spec.inputs and not refused:
            return job
        try:
            codec = self._codecs.get(spec.content_type)
            inputs = await self._chores.workflows.inputs(job)
            args, kwargs = decode_call(codec, spec.payload, job.id, spec.task)
            payload = encode_call(codec, (*inputs, *args), kwargs, job.id, spec.task)
        except UnencodableValue as error:
            self.fail(job, Fatal(f"the results of other jobs cannot be its arguments: {error}"))
        except Exception as error:
            self.fail(job, error)
        else:
            return replace(job, spec=replace(spec, payload=payload))
        return None
