"""Where a handler can run: on the event loop, in a thread, in a child process."""

from itertools import product

import pytest

KINDS = pytest.mark.parametrize(
    ("url", "kind"),
    [*product(("memory", "sqlite"), ("async", "thread")), ("memory", "process")],
    indirect=["url"],
)
"""A child process knows nothing of the store: what it says is written as a thread's is."""

ON_MEMORY = pytest.mark.parametrize("url", ["memory"], indirect=True)
