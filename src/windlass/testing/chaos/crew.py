"""The processes of a chaos run: started, hurt, replaced, and never left behind."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random
from time import monotonic
from typing import Final, TextIO

import msgspec

from .door import shut
from .nursery import Load, Look, Request, Role, Send, Start
from .plan import ChaosPlan, Part
from .record import Fault, Harm, Notebook
from .trap import draw

PATIENCE: Final = 15.0
"""How long a process may take to end after SIGTERM."""

LOOK: Final = 0.01

WEIGHTS: Final = {"worker": 4, "supervisor": 1, "producer": 1}
"""Whom it hits, and how often compared with the others."""


class Nurse:
    """Asks the nursery, and waits for its answer: each takes a moment at most."""

    def __init__(self, url: str, log: Path) -> None:
        with log.open("ab") as errors:
            self._nursery = subprocess.Popen(
                [sys.executable, "-P", "-m", "windlass.testing.chaos.nursery"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
            )
        self._log = log
        self.ask(Load(url))

    def ask(self, request: Request) -> int:
        asked, answers = self._nursery.stdin, self._nursery.stdout
        assert asked is not None
        assert answers is not None
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
        self._pid = pid
        self._nurse = nurse

    @property
    def lives(self) -> bool:
        return bool(self._nurse.ask(Look(self._pid)))

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
        self.members: list[Member] = []

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
            rate=plan.jobs / plan.seconds / max(plan.producers, 1),
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
            changes["trap"] = draw(chance, ("insert",)) if role == "producer" else draw(chance)
        return msgspec.structs.replace(part, **changes)

    def pick(self) -> Member | None:
        living = [member for member in self.members if member.lives and not member.is_stopped]
        weights = [WEIGHTS[member.role] for member in living]
        return self._chance.choices(living, weights)[0] if living else None

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
        member.send(signal.SIGCONT)
        member.is_stopped = False

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
        while any(member.lives for member in members) and monotonic() < until:
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
