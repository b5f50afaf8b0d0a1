"""What handlers return, as the store keeps it."""

from __future__ import annotations

from typing import Any

from ..core.binding import RESULT, EncryptingCodec
from ..core.codec import Codec, encode_result, too_large
from ..core.model import Job
from ..core.result import JUDGE


def encoded(job: Job, codec: Codec, value: Any, limit: int) -> bytes | None:
    """None is kept as nothing, but where results are encrypted: there nothing would tell who
    has taken a result away."""
    if value is None and (not isinstance(codec, EncryptingCodec) or _is_elsewhere(job)):
        return None
    result = encode_result(codec, value, RESULT, job.id, job.spec.task)
    if len(result) > limit:
        raise too_large(f"The results of {job.spec.task}", result, limit)
    return result


def _is_elsewhere(job: Job) -> bool:
    """Whether it may be a workflow whose results stay with its jobs: see `is_spread`."""
    return job.spec.task == JUDGE and job.spec.gathers
