"""What operators did: one line for each change that a person, or a program, made by the API.

Goes to the logger `windlass.audit`; with a file, there too, each line a JSON object. Never a
payload, never a key.
"""

from __future__ import annotations

import logging
from typing import Any, Final

import msgspec

from ..admin.moment import iso
from ..core.clock import system_clock
from ..errors import ConfigError
from .caller import Caller

log = logging.getLogger("windlass.audit")

DONE: Final = "done"


class Audit:
    """Writes actions down."""

    def __init__(self, path: str = "") -> None:
        try:
            self._file = open(path, "ab", buffering=0) if path else None  # noqa: SIM115
        except OSError as error:
            raise ConfigError(
                f"The audit log {path} cannot be written: {error.strerror}; name another file by "
                "--audit-log."
            ) from None

    def note(
        self, caller: Caller, address: str, action: str, target: dict[str, Any], outcome: str = DONE
    ) -> None:
        """Note an action and what became of it: `done`, or why it was refused."""
        line = msgspec.json.encode(
            {
                "at": iso(system_clock()),
                "caller": caller.name,
                "address": address,
                "action": action,
                "target": target,
                "outcome": outcome,
            }
        )
        log.info("%s", line.decode())
        if self._file is not None:
            try:
                self._file.write(line + b"\n")
            except OSError as error:
                # What was done is done, and was logged; a full disk must not make it look undone.
                log.error("the audit log cannot be written: %s", error)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
