"""Windlass in a Django project: add `windlass.django` to INSTALLED_APPS.

`from windlass.django import app` gives the project's one app, made from `settings.WINDLASS` when it
is first asked for. Tasks are declared with it in the `tasks.py` of any installed app.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .application import DjangoApp

    app: DjangoApp

__all__ = ["app"]


def __getattr__(name: str) -> Any:
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .application import project_app

    return project_app()
