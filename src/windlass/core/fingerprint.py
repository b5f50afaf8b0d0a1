"""The fingerprint of a call: the same for the same task and arguments, in every process."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from ..errors import UnencodableValue
from .codec import MSGPACK, in_order


def fingerprint(task: str, arguments: Mapping[str, Any]) -> str:
    """Some text that stands for a call of `task` with these arguments, by parameter.

    Written by a codec of its own, whichever the app has: one that encrypts would never write
    the same bytes twice.
    """
    try:
        record = MSGPACK.encode([*in_order(dict(arguments)).items()])
    except UnencodableValue as error:
        raise UnencodableValue(
            f"unique=True cannot tell calls of {task} apart by these arguments: {error} Give a "
            "key, or a function that makes one of the arguments."
        ) from error.__cause__
    return f"{task}:{blake2b(record, digest_size=16).hexdigest()}"
