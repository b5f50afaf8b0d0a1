"""A worker process, as its supervisor sees it."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
import time
from asyncio.subprocess import Process
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Final

from .note import VARIABLE, Death, Note, decode, encode

log = logging.getLogger("windlass")

LONGEST_NOTE: Final = 16 * 1024 * 1024
LAST_WORDS: Final = 1.0
"""How long to go on reading after the end; whatever the process forked may hold the line."""

OnNote = Callable[["Replica", Note], None]
OnEnd = Callable[["Replica"], None]


class Replica:
    """One process. `up` is set when it works, `asked` when it is to be replaced, `ended` last.

    `generation` is how often all processes were to be replaced before it was started.
    """

    def __init__(self, process: Process, writer: asyncio.StreamWriter, generation: int) -> None:
        self.generation = generation
        self.pid = process.pid
        self.up = asyncio.Event()
        self.asked = asyncio.Event()
        self.ended = asyncio.Event()
        self.refusal: str | None = None
        self.stopping = False
        self.dismissed = False
        """it was told to stop, by an order: nobody is to take its place"""
        self.worker = ""
        """its id as a worker, once it works"""
        self.has_stopped = False
        """it has ended by itself, and holds no jobs any more"""
        self._longest_stop = 0.0
        self._silence = 0.0
        self._process = process
        self._writer = writer
        self._born = time.monotonic()
        self._follow: asyncio.Task[None] | None = None

    def __str__(self) -> str:
        return f"process {self.pid}"

    @property
    def age(self) -> float:
        return time.monotonic() - self._born

    def end(self) -> str:
        """How it ended, in words."""
        code = self._process.returncode
        if code is None:
            return "is running"
        if code < 0:
            return f"was ended by {signal.Signals(-code).name}"
        return f"ended with exit code {code}"

    async def settled(self) -> bool:
        """Wait until it works (True) or is gone."""
        await first(self.up, self.ended)
        return self.up.is_set() and not self.ended.is_set()

    def ask(self, reason: str) -> None:
        """Note that it is to be replaced."""
        if not self.asked.is_set() and not self.dismissed:
            log.info("%s %s; another takes its place", self, reason)
            self.asked.set()

    def look(self, seconds: float, patience: float) -> None:
        """Take note that so many seconds have passed; one that is silent for long is replaced."""
        self._silence += seconds
        if self._silence > patience and self.up.is_set() and not self.stopping:
            self.ask(f"was not heard of for {self._silence:.0f} s")

    def tell(self, death: Death) -> None:
        """Tell it who has died, unless it stops. Its buffer takes that, even if it is stuck."""
        if not self._writer.is_closing() and not self.stopping:
            self._writer.write(encode(death))

    def let_go(self) -> None:
        """Ask it to stop gracefully. Asking twice does no harm, unlike a second signal."""
        self.stopping = True
        with suppress(OSError):  # it has gone already, which is what was asked for
            self._writer.write_eof()

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            self._process.kill()

    async def stop(self, patience: float) -> None:
        """Let it finish; kill it if it has not by then."""
        patience = max(patience, self._longest_stop)
        self.let_go()
        try:
            await asyncio.wait_for(self.ended.wait(), patience)
        except TimeoutError:
            log.error("%s did not stop within %g s; killing it", self, patience)
            self.kill()
            await self.ended.wait()

    def follow(self, reader: asyncio.StreamReader, on_note: OnNote, on_end: OnEnd) -> None:
        """Take its notes, from now until its end."""
        listening = self._listen(reader, on_note)
        self._follow = asyncio.create_task(self._live(listening, on_end))

    async def _live(self, notes: Coroutine[Any, Any, None], on_end: OnEnd) -> None:
        listening = asyncio.create_task(notes)
        await self._process.wait()
        await asyncio.wait([listening], timeout=LAST_WORDS)
        listening.cancel()
        self._writer.close()
        try:
            on_end(self)
        finally:
            self.ended.set()

    async def _listen(self, reader: asyncio.StreamReader, on_note: OnNote) -> None:
        with suppress(ConnectionError):  # a process that is killed ends its line like this
            while line := await reader.readline():
                self._silence = 0.0
                note = decode(line)
                self._take(note)
                on_note(self, note)

    def _take(self, note: Note) -> None:
        match note.kind:
            case "ready":
                self.worker, self._longest_stop = note.worker, note.longest_stop
                self.up.set()
            case "due":
                self.ask(note.text)
            case "refused":
                self.refusal = note.text
            case "dismissed":
                self.dismissed = self.stopping = True
            case "stopped":
                self.has_stopped = True


async def spawn(generation: int, on_note: OnNote, on_end: OnEnd) -> Replica:
    """Start the command of this process once more, at the end of a tether.

    In a process group of its own: Ctrl-C in a terminal reaches the supervisor alone.
    """
    ours, its = socket.socketpair()
    with its:
        reader, writer = await asyncio.open_connection(sock=ours, limit=LONGEST_NOTE)
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *sys.orig_argv[1:],
            stdin=asyncio.subprocess.DEVNULL,
            pass_fds=[its.fileno()],
            process_group=0,
            env={**os.environ, VARIABLE: str(its.fileno())},
        )
    replica = Replica(process, writer, generation)
    replica.follow(reader, on_note, on_end)
    return replica


async def first(*events: asyncio.Event) -> None:
    """Wait for whichever of these comes first."""
    waits = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
