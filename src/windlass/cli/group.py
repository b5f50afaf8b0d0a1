"""A set of commands, which tells one that is mistyped what was meant."""

from __future__ import annotations

from difflib import get_close_matches

import click

from .habits import COMMANDS


class Group(click.Group):
    """Refuses an unknown command with the one that is near, or with all there are."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        known = self.list_commands(ctx)
        if args[0] not in known and not ctx.resilient_parsing:
            near = get_close_matches(args[0], known, 1)
            hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}."
            _, *path = ctx.command_path.split()
            hint = hint if path else COMMANDS.get(args[0], hint)
            ctx.fail(f"There is no command {' '.join([*path, args[0]])}: {hint}")
        return super().resolve_command(ctx, args)
