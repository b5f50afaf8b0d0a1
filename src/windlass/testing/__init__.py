"""For tests: of tasks, of stores, and of Windlass itself.

What tests of tasks need is here: `work` runs jobs, `FakeClock` moves time.
"""

# At once, and not when they are first used: a submodule, once imported, would take the name `work`.
from .clock import FakeClock
from .work import work, work_blocking

__all__ = ["FakeClock", "work", "work_blocking"]
