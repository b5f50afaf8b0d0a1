"""Keeps SQLite out of forks.

SQLite remembers in the process which file locks it holds, and the kernel does not pass
locks on: a child that inherits a connection believes to hold what it does not, and writes
get lost. One that is forked while another thread is inside SQLite inherits a mutex that
nobody will ever release. So a fork waits until all threads have left, closes every
connection, and each is opened again when it is next used.
"""

from __future__ import annotations

import os
import threading
from typing import Final, Protocol
from weakref import WeakSet


class Closable(Protocol):
    def disconnect(self) -> None: ...


class Gate:
    """Whoever uses a connection does so `with GATE:`; not twice at a time in one thread."""

    def __init__(self) -> None:
        # A plain lock: the child releases what its parent acquired.
        self._turn = threading.Condition(threading.Lock())
        self._inside = 0
        self._forking = False
        self._connections: WeakSet[Closable] = WeakSet()

    def __enter__(self) -> None:
        with self._turn:
            while self._forking:
                self._turn.wait()
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._turn:
            self._inside -= 1
            if self._forking:
                self._turn.notify_all()

    def add(self, connection: Closable) -> None:
        self._connections.add(connection)

    def before_fork(self) -> None:
        self._turn.acquire()
        self._forking = True
        while self._inside:
            self._turn.wait()
        for connection in self._connections:
            connection.disconnect()

    def after_fork(self) -> None:
        self._forking = False
        self._turn.notify_all()
        self._turn.release()


GATE: Final = Gate()
os.register_at_fork(
    before=GATE.before_fork, after_in_parent=GATE.after_fork, after_in_child=GATE.after_fork
)
