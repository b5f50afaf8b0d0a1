"""The HTTP and gRPC APIs, and the dashboard. Open `server.py` first: how it starts and stops.

`dashboard` and `Caller` are for apps that mount it; they need the extra `windlass[server]`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import MissingExtra

if TYPE_CHECKING:
    from .caller import Caller
    from .mounted import Dashboard, dashboard

__all__ = ["Caller", "Dashboard", "dashboard"]


def __getattr__(name: str) -> Any:
    if name == "Caller":
        from .caller import Caller

        return Caller
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from . import mounted
    except ModuleNotFoundError as error:
        raise MissingExtra(
            "The dashboard needs an extra: pip install 'windlass[server]'."
        ) from error
    return getattr(mounted, name)
