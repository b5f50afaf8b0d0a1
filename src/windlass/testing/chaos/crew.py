"""The processes of a chaos run: started, hurt, replaced, and never left behind."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from math import inf
from pathlib import Path
from random import Random
from time import monotonic
from typing import BinaryIO, Final, TextIO

import msgspec

from .door import shut
from .nursery import HALTED, Load, Look, Request, Role, Send, Start
from .plan import ChaosPlan, Part
from .record import Fault, Harm, Notebook
from .server import can_serve, free_port
from .trap import CALLS_OF, draw

PATIENCE: Final = 15.0
"""How long a process may take to end after SIGTERM."""

LOOK: Final = 0.01

ZOMBIE: Final = 1.5
"""How many leases one stands still that has halted after it was told to end."""

THROUGH: Final = "http://127.0.0.1:{}?patience=1&timeout=3"
"""Where callers reach the server; one that stands still is not waited for much longer than it
takes to be woken."""

WEIGHTS: Final = {"worker": 4, "supervisor": 1, "producer": 1, "server": 1, "caller": 1}
"""Whom it hits, and how often compared with the others."""


def start_nursery(errors: BinaryIO) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "windlass.testing.chaos.nursery"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
    )


class Nurse:
    """Asks the nursery, and waits for its answer: each takes a moment at most."""

    def __init__(self, url: str, log: Path) -> None:
        with log.open("ab") as errors:
            self._nursery = start_nursery(errors)
        self._log = log
        # A member may be woken by one thread while another dismisses the rest.
        self._turn = threading.Lock()
        self.ask(Load(url))

    def ask(self, request: Request) -> int:
        asked, answers = self._nursery.stdin, self._nursery.stdout
        assert asked is not None
        assert answers is not None
        with self._turn:
            asked.write(msgspec.json.encode(request) + b"\n")
            asked.flush()
            answer = answers.readline()
        if not answer:
            raise RuntimeError(f"The nursery has ended:\n{self._log.read_text()[-2000:]}")
        return int(answer)

    def close(self) -> None:
        """End it, and with it everybody."""
        self._nursery.communicate()


class Member:
    """One process of the run."""

    def __init__(self, role: Role, pid: int, nurse: Nurse) -> None:
        self.role = role
        self.node = f"{'worker' if role == 'supervisor' else role}-{pid}"
        self.is_stopped = False
        self.has_halted = False
        """by itself, and nobody has seen to it that it will be woken"""
        self._pid = pid
        self._nurse = nurse

    @property
    def lives(self) -> bool:
        found = self._nurse.ask(Look(self._pid))
        if found == HALTED and not self.is_stopped:
            # By a trap of its own: whoever has halted is to be woken.
            self.is_stopped = self.has_halted = True
        return found > 0

    def send(self, number: signal.Signals) -> None:
        """Send a signal; SIGKILL has ended it on return."""
        self._nurse.ask(Send(self._pid, number))


class Crew:
    """Who takes part just now. Faults are noted before they are done."""

    def __init__(
        self, url: str, folder: Path, plan: ChaosPlan, chance: Random, book: Notebook
    ) -> None:
        self._url = url
        self._folder = folder
        self._plan = plan
        self._chance = chance
        self._book = book
        self._nurse = Nurse(url, folder / "log")
        self._door: TextIO | None = None
        self._port = free_port() if plan.server and can_serve() else 0
        self.members: list[Member] = []

    @property
    def has_server(self) -> bool:
        return bool(self._port)

    def note(self, kind: Harm, node: str = "") -> None:
        self._book.write(Fault(monotonic(), kind, node))

    def fill(self) -> None:
        """Start whoever is missing."""
        self.members = [member for member in self.members if member.lives]
        plan = self._plan
        wanted: dict[Role, int] = {
            "worker": plan.workers,
            "producer": plan.producers,
            "supervisor": int(plan.supervised),
            "server": int(bool(self._port)),
            "caller": int(bool(self._port)),
        }
        for role, number in wanted.items():
            for _ in range(number - sum(member.role == role for member in self.members)):
                self.start(role)

    def start(self, role: Role, *, healthy: bool = False) -> Member:
        """Start one; a healthy one has no trap, its clock is right, and it declares nothing."""
        chance, plan = self._chance, self._plan
        part = Part(
            url=self._url,
            folder=str(self._folder),
            seed=chance.randrange(2**32),
            lease=plan.lease,
            concurrency=plan.concurrency,
            ticks=not healthy,
            wrap=plan.wrap,
            port=self._port,
            through=THROUGH.format(self._port) if role == "caller" else "",
            rate=plan.jobs / plan.seconds / max(plan.producers + bool(self._port), 1),
        )
        if not healthy:
            part = self._hampered(role, part)
        member = Member(role, self._nurse.ask(Start(role, part)), self._nurse)
        self.members.append(member)
        return member

    def _hampered(self, role: Role, part: Part) -> Part:
        chance, plan = self._chance, self._plan
        is_killed = plan.kills_per_second > 0
        # With SQLite each process is the store, and its clock is the store's.
        off = plan.skew if not self._url.startswith("sqlite:") else 0.0
        changes: dict[str, object] = {"skew": chance.choice((0.0, off, -off))}
        if role == "supervisor":
            changes |= {"processes": 2, "lifetime": 6.0 if is_killed else 0.0}
        elif is_killed and chance.random() < 0.5:
            changes["trap"] = draw(chance, CALLS_OF[role])
        return msgspec.structs.replace(part, **changes)

    def pick(self) -> Member | None:
        living = [member for member in self.members if member.lives and not member.is_stopped]
        weights = [WEIGHTS[member.role] for member in living]
        return self._chance.choices(living, weights)[0] if living else None

    def halted(self) -> list[Member]:
        """Those that have halted by a trap of their own, each told of once."""
        found = [member for member in self.members if member.has_halted]
        for member in found:
            member.has_halted = False
        return found

    def kill(self, member: Member) -> None:
        self.note("kill", member.node)
        member.send(signal.SIGKILL)

    def stop(self, member: Member) -> None:
        """SIGSTOP: to the others it looks like death, until it wakes up."""
        self.note("stop", member.node)
        member.send(signal.SIGSTOP)
        member.is_stopped = True

    def wake(self, member: Member) -> None:
        self.note("continue", member.node)
        # First: it may run into its next trap at once.
        member.is_stopped = member.has_halted = False
        member.send(signal.SIGCONT)

    def end(self, member: Member) -> None:
        """SIGTERM."""
        self.note("end", member.node)
        member.send(signal.SIGTERM)

    def dismiss(self, members: list[Member]) -> None:
        """Wake these up, let them end in good order, and kill those that do not."""
        for member in members:
            if member.is_stopped:
                self.wake(member)
            if member.lives:
                self.end(member)
        until = monotonic() + PATIENCE
        waking: dict[Member, float] = {}
        while (left := [member for member in members if member.lives]) and monotonic() < until:
            for member in left:
                if member.has_halted:
                    # By a trap on its way out.
                    member.has_halted = False
                    waking[member] = monotonic() + ZOMBIE * self._plan.lease
                elif monotonic() > waking.get(member, inf):
                    del waking[member]
                    self.wake(member)
            time.sleep(LOOK)
        for member in members:
            if member.lives:
                self.kill(member)
        self.members = [member for member in self.members if member not in members]

    def shut_out(self) -> None:
        """Wait until those are gone whose supervisor was killed, and let none of them come back."""
        self._door = shut(self._folder, PATIENCE)

    def close(self) -> None:
        """End everybody at once."""
        self._nurse.close()
        self._book.close()
        if self._door is not None:
            self._door.close()
