"""Redis for a chaos run: a step that was left behind is ended after seconds, not half a minute."""

from windlass.stores.contract import Store
from windlass.stores.redis import outbox

STALE = 6_000
"""In milliseconds: longer than any process stands still in a run of the tests."""


def hurried(store: Store) -> Store:
    """Called in each process, before its first step."""
    vars(outbox)["STALE"] = STALE
    return store
