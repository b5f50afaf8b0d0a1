"""What a finished job came to, as its codec gives it back."""

from __future__ import annotations

from typing import Any, Final

from ..errors import CorruptRecord
from .binding import EncryptingCodec
from .codec import Codecs, decode_call, decode_result
from .model import Job
from .states import State

JUDGE: Final = "windlass.workflow"
"""The task of the job that stands for a workflow; every worker knows it."""


def result_of(codecs: Codecs, job: Job) -> Any:
    """None stands for no result, but where results are encrypted: there None is one as well.

    A workflow may have left its results with its jobs, and has none of its own: see `is_spread`.
    """
    codec = codecs.get(job.spec.content_type)
    if job.result is not None:
        return decode_result(codec, job.result, id=job.id, task=job.spec.task)
    if job.state is State.COMPLETED and isinstance(codec, EncryptingCodec):
        if not job.spec.gathers:
            raise CorruptRecord(
                f"Job {job.id} has no result. One that is encrypted is there even if it is None: "
                "it was taken away, or the worker has not written it."
            )
        refuse_no_workflow(codecs, job)
    return None


def refuse_no_workflow(codecs: Codecs, job: Job) -> None:
    """Raise for a job that only says it stands for a workflow, where somebody could have made it
    say so: nobody without a key can write arguments for one."""
    codec = codecs.get(job.spec.content_type)
    if isinstance(codec, EncryptingCodec):
        decode_call(codec, job.spec.payload, job.id, JUDGE)
