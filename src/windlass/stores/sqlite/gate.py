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
import time
from typing import Final, Protocol
from weakref import WeakSet

LOOK: Final = 0.0005
"""Seconds between two looks of a fork at those who are inside."""


class Closable(Protocol):
    def disconnect(self) -> None: ...


class Gate:
    """Whoever uses a connection does so `with GATE:`; not twice at a time in one thread.

    Ctrl-C may come on the way in or out: it must leave no lock behind, and what it leaves must not
    keep the thread itself from going on.
    """

    def __init__(self) -> None:
        # A plain lock: the child releases what its parent acquired.
        self._fork = threading.Lock()
        self._forking = False
        self._inside: set[int] = set()
        """the threads that use a connection"""
        self._connections: WeakSet[Closable] = WeakSet()

    def __enter__(self) -> None:
        thread = threading.get_ident()
        # First this, then a look for a fork; that one does it the other way round.
        self._inside.add(thread)
        while self._forking:
            self._inside.discard(thread)
            with self._fork:
                self._inside.add(thread)

    def __exit__(self, *_: object) -> None:
        self._inside.discard(threading.get_ident())

    def add(self, connection: Closable) -> None:
        self._connections.add(connection)

    def before_fork(self) -> None:
        self._fork.acquire()
        self._forking = True
        self._inside.discard(threading.get_ident())
        while self._inside:
            time.sleep(LOOK)
        for connection in self._connections:
            connection.disconnect()

    def after_fork(self) -> None:
        self._forking = False
        self._fork.release()

    def after_fork_in_child(self) -> None:
        # Threads that were on their way in are not here.
        self._inside.clear()
        self.after_fork()


GATE: Final = Gate()
os.register_at_fork(
    before=GATE.before_fork,
    after_in_parent=GATE.after_fork,
    after_in_child=GATE.after_fork_in_child,
)
