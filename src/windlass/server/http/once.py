"""Idempotency keys: a request that is sent again under the same one stores nothing more.

The jobs get ids that come of the key, so that the store itself, and with it every server, knows
them again. A digest of the request goes along as a header of each job: by it another request
under the same key is told from the same one. The payload would not do, which a codec that encrypts
writes differently each time.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any, Final, NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from ...core.ids import idempotent_id
from ...core.name import checked_name
from ...errors import InvalidOption
from ...members import get_all
from ...stores.contract import Store
from ..offer import JobRequest
from .call import Call

HEADER: Final = "idempotency-digest"


class Once(NamedTuple):
    """The jobs of one request under its key."""

    requests: Sequence[JobRequest]
    digest: str

    async def refuse_other_use(self, store: Store) -> None:
        """Raise if the key was used for something else before."""
        found = await get_all(store, [str(request.id) for request in self.requests])
        for job in found.values():
            if (job.spec.headers or {}).get(HEADER, self.digest) != self.digest:
                raise InvalidOption(
                    "This Idempotency-Key was used for another request before; use a new key for "
                    "each."
                )


def once_of(call: Call[Any, Any], requests: Sequence[JobRequest]) -> Once | None:
    """What an Idempotency-Key makes of the jobs of a request; None without one."""
    key = call.header(b"idempotency-key")
    if key is None:
        return None
    first = idempotent_id(call.caller.name, checked_name(key, "Idempotency-Key"))
    if any(request.id is not UNSET for request in requests):
        raise InvalidOption("Give an id or an Idempotency-Key, not both.")
    digest = blake2b(repr(requests).encode("utf-8", "replace"), digest_size=16).hexdigest()
    named = [
        replace(
            request,
            id=f"{first}.{number}",
            headers={**(request.headers or {}), HEADER: digest},
        )
        for number, request in enumerate(requests, 1)
    ]
    return Once(named, digest)
