"""Settings: one frozen class per service, and where their values come from.

Flags win over `WINDLASS_*` variables, these over `windlass.toml` (or `[tool.windlass]` in
`pyproject.toml`), these over the defaults. Names of flags, variables and keys are the
names of the fields; there is no second list to keep in step.
"""

from .history import HistorySettings
from .load import SECTIONS, Setting, explain, history_settings, load, misspelt
from .server import ServerSettings
from .sources import split_names
from .worker import WorkerSettings

__all__ = [
    "SECTIONS",
    "HistorySettings",
    "ServerSettings",
    "Setting",
    "WorkerSettings",
    "explain",
    "history_settings",
    "load",
    "misspelt",
    "split_names",
]
