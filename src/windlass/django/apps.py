"""The application for INSTALLED_APPS."""

from __future__ import annotations

from importlib import import_module

from django.apps import AppConfig, apps
from django.db.models.signals import post_migrate
from django.utils.module_loading import module_has_submodule


class WindlassConfig(AppConfig):
    """Finds the tasks of the project, and keeps its tests off the store."""

    name = "windlass.django"
    label = "windlass"
    verbose_name = "Windlass"

    def ready(self) -> None:
        from .application import project_app
        from .testing import forget_after_flush

        project_app()
        discover()
        post_migrate.connect(forget_after_flush, sender=self)


def discover() -> None:
    """Import the `tasks.py` of every installed app but this one."""
    for config in apps.get_app_configs():
        module = config.module
        if config.name != WindlassConfig.name and module and module_has_submodule(module, "tasks"):
            import_module(f"{config.name}.tasks")
