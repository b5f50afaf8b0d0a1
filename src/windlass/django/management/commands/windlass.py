"""`manage.py windlass worker`, and every other command of `windlass`, for the project's app."""

from __future__ import annotations

import os
from typing import Any, Final

from django.core.management.base import BaseCommand

APP: Final = "windlass.django:app"


class Command(BaseCommand):
    """Hands all arguments over to `windlass`, with the app of the project named already."""

    help = "Runs a command of windlass, such as worker, server, jobs or top, with this project."
    requires_system_checks = ()

    def run_from_argv(self, argv: list[str]) -> None:
        from ....cli.main import cli

        os.environ.setdefault("WINDLASS_APP", APP)
        cli.main(args=argv[2:], prog_name=f"{os.path.basename(argv[0])} windlass")

    def handle(self, *args: Any, **options: Any) -> None:
        """For `call_command("windlass", "jobs")`."""
        from ....cli.main import cli

        os.environ.setdefault("WINDLASS_APP", APP)
        cli.main(args=list(args), prog_name="windlass", standalone_mode=False)

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("args", nargs="*")
