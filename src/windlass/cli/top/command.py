"""`windlass top`: what happens in the store, live on a terminal or as one frame of text."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys

import click

from ...app import Windlass
from ..loop import run
from ..output import WIDE
from ..refusal import Refusal
from ..target import AppName, app_option, existing, url_option
from ..text import masked
from .eye import Eye
from .frame import plain
from .header import Glyphs
from .layout import ASCII, FANCY, Scene, sheet
from .rows import panes
from .ui import INTERVALS, Ui


@click.command()
@click.option(
    "-i",
    "--interval",
    default=2.0,
    show_default=True,
    type=click.FloatRange(min=INTERVALS[0], max=3600),
    metavar="SECONDS",
    help="how often to look",
)
@click.option("--filter", "text", default="", metavar="TEXT", help="show only rows with this text")
@click.option("--once", is_flag=True, help="print one frame as text and end; needs no terminal")
@app_option
@url_option
def top(interval: float, text: str, once: bool, app: AppName | None, url: str | None) -> None:
    """Show what happens: queues, workers, active jobs, errors, and what needs attention.

    Keys pause queues, replay and cancel jobs; ? explains them all, q quits.
    """
    ui = Ui(interval=interval, filter=text)
    with existing(app, url) as found:
        if once:
            click.echo(run(_frame(found, ui)))
        else:
            _refuse_without_terminal()
            # Not on uvloop: it would leave the terminal, which is not ours alone, without waits.
            asyncio.run(_live(found, ui))


async def _frame(app: Windlass, ui: Ui) -> str:
    eye = Eye(app)
    try:
        look = await eye.look()
    finally:
        await eye.close()
    glyphs = _glyphs()
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else WIDE
    shown = [pane.filtered(ui.filter) for pane in panes(look, glyphs.bars)]
    return plain(sheet(Scene(ui, look, shown, masked(app.url), glyphs=glyphs), width))


async def _live(app: Windlass, ui: Ui) -> None:
    from .screen import Painter, Screen
    from .session import Session
    from .stage import Stage, styles

    eye = Eye(app)
    screen = Screen(sys.stdout.fileno(), Painter(styles(os.environ)), sys.stdout.encoding)
    session = Session(eye, screen, masked(app.url), ui, _glyphs())
    try:
        await Stage(sys.stdin.fileno(), screen, session).play()
    finally:
        await eye.close()


def _refuse_without_terminal() -> None:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Refusal(
            "There is no terminal to draw on: --once prints one frame as text, for scripts."
        )
    if os.environ.get("TERM", "dumb") in ("dumb", "unknown", ""):
        raise Refusal(
            "The terminal cannot be drawn on, as its TERM says: set TERM to its kind, as in "
            "TERM=xterm, or use --once."
        )
    if sys.platform == "win32":
        raise Refusal("The live view needs a Unix terminal; --once prints one frame as text.")


def _glyphs() -> Glyphs:
    encoding = (sys.stdout.encoding or "ascii").lower().replace("-", "")
    return FANCY if encoding.startswith("utf") else ASCII
