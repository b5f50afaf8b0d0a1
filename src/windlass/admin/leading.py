"""Who leads, as far as that may be known."""

from __future__ import annotations

from collections.abc import Mapping

from ..core.workers import Term
from ..errors import UsageError
from ..stores.contract import Store


async def leaders_of(store: Store) -> Mapping[str, Term] | None:
    """As `Store.leaders`; None from behind a server that does not tell, or is too old to know."""
    try:
        return await store.leaders()
    except UsageError:
        return None
