"""That replicas have what an answer rests on: what `replicas` in the URL asks for.

Redis answers before it replicates, so a master may die with what it has acknowledged. WAIT, sent
right behind a command, tells how many replicas have all that this connection wrote. Newer servers
count from its last write, and a script that found everything done has written nothing: so a small
write comes before.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from .fault import Lost, code
from .io import Word, pack
from .url import Address

PATIENCE: Final = 100
"""Milliseconds that one WAIT may take: all others on the connection stand behind it."""

NAME: Final = "proof"
"""Of the key that is written, in the shard of the script's own keys."""


class Proof(NamedTuple):
    """Asks for it, and reads what came back."""

    replicas: int

    def commands(self, first: Word) -> tuple[bytes, bytes]:
        """What to send behind a call whose first key this is."""
        shard = (first if isinstance(first, str) else str(first, "utf-8")).partition("}")[0]  # type: ignore[arg-type]
        write = pack(("SET", f"{shard}}}:{NAME}", ""))
        return write, pack(("WAIT", self.replicas, PATIENCE))

    def fault(self, where: Address, written: Any, number: Any) -> Exception | None:
        """What to make of the replies, if it is not proved; then the call is made again."""
        for reply in (written, number):
            # Where memory is full, what the script itself could write is counted.
            if isinstance(reply, Exception) and code(reply) != "OOM":
                return reply if isinstance(reply, Lost) else Lost(where, str(reply), sent=True)
        if number >= self.replicas:
            return None
        return Lost(where, f"{number} of {self.replicas} replicas have the write", sent=True)
