"""The view at work: looks at the store, draws, obeys keys; none of them waits for the others."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from time import monotonic
from typing import Final

from msgspec.structs import replace

from ...errors import StoreUnavailable, WindlassError
from .eye import Eye
from .header import Glyphs, Trouble
from .layout import Scene, draw
from .look import Look
from .pane import Pane
from .rows import panes
from .screen import Screen
from .ui import Shown, Ui, Wish, press, settle

PATIENCE: Final = 15.0
"""Seconds that one look may take: a store that hangs is told of, and asked again."""

SILENCE: Final = 2.0
"""Seconds after which it is shown that a look has not been answered yet."""

TICK: Final = 1.0


class Session:
    """One user at one terminal."""

    def __init__(self, eye: Eye, screen: Screen, where: str, ui: Ui, glyphs: Glyphs) -> None:
        self._eye = eye
        self._screen = screen
        self._where = where
        self._ui = ui
        self._glyphs = glyphs
        self._look: Look | None = None
        self._panes: Sequence[Pane] = ()
        self._shown = Shown(())
        self._visible: Sequence[str] | None = None
        self._trouble = ""
        self._heard_at = monotonic()
        self._asked_at: float | None = None
        self._wanted = asyncio.Event()
        self._over = asyncio.Event()
        self._deeds: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Go on until the user quits; `WindlassError` if there was nothing to show at all."""
        self.draw()
        looking = asyncio.create_task(self._keep_looking())
        over = asyncio.create_task(self._over.wait())
        await asyncio.wait({looking, over}, return_when=asyncio.FIRST_COMPLETED)
        failed = looking.done()
        for task in (looking, over, *self._deeds):
            task.cancel()
        await asyncio.gather(looking, over, *self._deeds, return_exceptions=True)
        if failed:
            looking.result()

    def quit(self) -> None:
        self._over.set()

    def tell(self, message: str) -> None:
        """Show a sentence until the next key."""
        self._ui = replace(self._ui, message=message)
        self.draw()

    def redraw(self) -> None:
        """Draw all of it: the terminal has another size, or another content."""
        self._screen.redraw()
        self.draw()

    def press(self, key: str) -> None:
        if not self._panes:
            # There is nothing yet that any other key could be about.
            if key in ("q", "ctrl-c", "ctrl-d"):
                self.quit()
            return
        before = self._ui.shown_filter
        self._ui, wish = press(self._ui, self._shown, key)
        if self._ui.shown_filter != before:
            self._arrange()
        if wish is not None:
            self._obey(wish)
        self.draw()
        if self._look is not None and not {*(self._visible or ())} <= {*self._look.points}:
            self._wanted.set()

    def draw(self) -> None:
        scene = Scene(
            self._ui, self._look, self._panes, self._where, self._now_trouble(), self._glyphs
        )
        drawn = draw(scene, *self._screen.size)
        self._shown = drawn.shown
        self._visible = drawn.rows.get("queues", self._visible)
        self._screen.show(drawn.frame)

    def _obey(self, wish: Wish) -> None:
        match wish.verb:
            case "quit":
                self.quit()
            case "look":
                self._wanted.set()
            case "redraw":
                self._screen.redraw()
            case _:
                deed = asyncio.create_task(self._carry_out(wish))
                self._deeds.add(deed)
                deed.add_done_callback(self._deeds.discard)

    async def _carry_out(self, wish: Wish) -> None:
        try:
            async with asyncio.timeout(PATIENCE):
                message = await self._eye.carry_out(wish)
        except TimeoutError:
            message = "The store has not answered; whether it was done is unknown."
        except WindlassError as error:
            message = str(error)
        self.tell(message)
        self._wanted.set()

    async def _keep_looking(self) -> None:
        while True:
            await self._take_look()
            self.draw()
            try:
                await asyncio.wait_for(self._wanted.wait(), self._ui.interval)
            except TimeoutError:
                continue
            finally:
                self._wanted.clear()

    async def _take_look(self) -> None:
        self._asked_at = monotonic()
        opened = self._ui.opened.job if self._ui.opened is not None else None
        look = asyncio.create_task(self._bounded_look(opened))
        try:
            while not (await asyncio.wait({look}, timeout=TICK))[0]:
                self.draw()
            self._look, self._trouble = look.result(), ""
        except TimeoutError:
            self._trouble = f"The store has not answered for {PATIENCE:g} s; it is asked again."
        except WindlassError as error:
            if self._look is None and not isinstance(error, StoreUnavailable):
                raise
            self._trouble = str(error)
        finally:
            look.cancel()
            self._asked_at = None
        if not self._trouble:
            self._heard_at = monotonic()
            self._arrange()

    async def _bounded_look(self, opened: str | None) -> Look:
        async with asyncio.timeout(PATIENCE):
            return await self._eye.look(self._visible, opened)

    def _arrange(self) -> None:
        """Compute the rows anew, from what was found and what is to be shown of it."""
        if self._look is not None:
            found = panes(self._look, self._glyphs.bars)
            self._panes = [pane.filtered(self._ui.shown_filter) for pane in found]
            self._ui = settle(self._ui, Shown(self._panes))

    def _now_trouble(self) -> Trouble | None:
        lasting = round((monotonic() - self._heard_at) * 1000)
        if self._trouble:
            return Trouble(self._trouble, lasting)
        if self._asked_at is not None and monotonic() - self._asked_at >= SILENCE:
            return Trouble("The store has not answered yet.", lasting)
        return None


class Notes(logging.Handler):
    """Shows what would otherwise be logged right across the screen."""

    def __init__(self, session: Session, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(logging.WARNING)
        self._session = session
        self._loop = loop

    def emit(self, record: logging.LogRecord) -> None:
        try:
            # Threads log too.
            self._loop.call_soon_threadsafe(self._session.tell, record.getMessage())
        except Exception:
            self.handleError(record)
