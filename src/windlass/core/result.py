"""What a finished job came to, as its codec gives it back."""

from __future__ import annotations

from typing import Any

from ..errors import CorruptRecord
from .binding import EncryptingCodec
from .codec import Codecs, decode_result
from .model import Job
from .states import State


def result_of(codecs: Codecs, job: Job) -> Any:
    """None stands for no result, but where results are encrypted: there None is one as well.

    A workflow may have left its results with its jobs, and has none of its own: see `is_spread`.
    """
    codec = codecs.get(job.spec.content_type)
    if job.result is not None:
        return decode_result(codec, job.result, id=job.id, task=job.spec.task)
    is_spread = job.spec.gathers and job.spec.workflow == job.id
    if job.state is State.COMPLETED and isinstance(codec, EncryptingCodec) and not is_spread:
        raise CorruptRecord(
            f"Job {job.id} has no result. One that is encrypted is there even if it is None: it "
            "was taken away, or the worker has not written it."
        )
    return None
