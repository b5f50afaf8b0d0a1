"""What operators did: one line for each change that a person, or a program, made by the API.

Goes to the logger `windlass.audit`; with a file, there too, each line a JSON object. Never a
payload, never a key. A line is bounded, and so is how many of them those can cause who have no key.
"""

from __future__ import annotations

import errno
import logging
import os
import stat
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

import msgspec

from ..admin.moment import iso
from ..core.clock import system_clock
from ..errors import ConfigError
from .caller import ANYONE, Caller

log = logging.getLogger("windlass.audit")

DONE: Final = "done"
LEFT: Final = "It was not carried out in time, or the caller left; it may have been done."

OWNER_ONLY: Final = 0o600

LONGEST_TEXT: Final = 256
MOST_VALUES: Final = 100
LARGEST: Final = 16 * 1024
"""Characters of a text, values of a list, and bytes of all that a line says of its target."""

BURST: Final = 60
EVERY: Final = 60.0
"""Refusals of callers without a key: so many lines at once, then one in so many seconds."""


class Audit:
    """Writes actions down."""

    def __init__(self, path: str = "", clock: Callable[[], float] = time.monotonic) -> None:
        self._path = path
        self._clock = clock
        self._left = float(BURST)
        self._looked = clock()
        self._unsaid = 0
        self._is_cut = False
        """whether the last line in the file lacks its end"""
        try:
            self._file = _opened(path) if path else None
        except OSError as error:
            raise ConfigError(
                f"The audit log {path} cannot be written: {error.strerror}; name another file by "
                "--audit-log."
            ) from None

    def note(
        self,
        caller: Caller,
        address: str,
        action: str,
        target: Mapping[str, Any],
        outcome: str = DONE,
    ) -> None:
        """Note an action and what became of it: `done`, or why it was refused."""
        if caller is ANYONE and outcome != DONE:
            if not self._may_say():
                self._unsaid += 1
                return
            self._tell_unsaid()
        self._write(caller.name, address, action, target, outcome)

    def reopen(self) -> None:
        """Go on in the file that has the name by now: it was renamed to be kept."""
        if self._file is None:
            return
        try:
            new = _opened(self._path)
        except OSError as error:
            log.error("the audit log cannot be opened again: %s", error)
            return
        os.close(self._file)
        self._file, self._is_cut = new, False

    def close(self) -> None:
        self._tell_unsaid()
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _may_say(self) -> bool:
        now = self._clock()
        self._left = min(self._left + (now - self._looked) / EVERY, BURST)
        self._looked = now
        if self._left < 1:
            return False
        self._left -= 1
        return True

    def _tell_unsaid(self) -> None:
        if self._unsaid:
            number, self._unsaid = self._unsaid, 0
            outcome = "Refused: callers without a key, more often than each is written down."
            self._write(ANYONE.name, "", "refused", {"number": number}, outcome)

    def _write(
        self, caller: str, address: str, action: str, target: Mapping[str, Any], outcome: str
    ) -> None:
        line = msgspec.json.encode(
            {
                "at": iso(system_clock()),
                "caller": caller,
                "address": address,
                "action": _clipped(action),
                "target": _bounded(target),
                "outcome": _clipped(outcome),
            }
        )
        log.info("%s", line.decode())
        if self._file is None:
            return
        if self._is_renamed():
            self.reopen()
        try:
            self._append(self._file, line + b"\n")
        except OSError as error:
            # What was done is done, and was logged; a full disk must not make it look undone.
            log.error("the audit log cannot be written: %s", error)

    def _append(self, file: int, line: bytes) -> None:
        whole = b"\n" + line if self._is_cut else line
        written = os.write(file, whole)
        if written < len(whole):
            # Where the disk is full in the middle of a line; the next one begins anew.
            self._is_cut = True
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._is_cut = False

    def _is_renamed(self) -> bool:
        assert self._file is not None
        try:
            return not os.path.samestat(os.stat(self._path), os.fstat(self._file))
        except OSError:
            return True


def _opened(path: str) -> int:
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, OWNER_ONLY)
    mode = os.fstat(file).st_mode
    if stat.S_ISREG(mode) and stat.S_IMODE(mode) != OWNER_ONLY:
        with suppress(PermissionError):  # another's, who has given us the right to write
            os.fchmod(file, OWNER_ONLY)
    return file


def _bounded(target: Mapping[str, Any]) -> Mapping[str, Any]:
    """A target that is no longer than `LARGEST` as JSON."""
    clipped: Mapping[str, Any] = _clipped(msgspec.to_builtins(target))
    if len(msgspec.json.encode(clipped)) <= LARGEST:
        return clipped
    plain = {name: value for name, value in clipped.items() if isinstance(value, str | int)}
    few = {**dict(list(plain.items())[:10]), "clipped": True}
    return few if len(msgspec.json.encode(few)) <= LARGEST else {"clipped": True}


def _clipped(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= LONGEST_TEXT else f"{value[: LONGEST_TEXT - 1]}…"
    if isinstance(value, Mapping):
        pairs = list(value.items())[:MOST_VALUES]
        return {_clipped(str(name)): _clipped(each) for name, each in pairs}
    if isinstance(value, Sequence):
        return [_clipped(each) for each in value[:MOST_VALUES]]
    return value
