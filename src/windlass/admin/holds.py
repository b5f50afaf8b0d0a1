"""The queues of a store that a move has paused, told apart from those that people have.

A pause does not say who wanted it, and a move that was killed must know when it is run again:
what it paused on the target it resumes at the end, what people paused stays so. So it makes a
note in the store before it pauses a queue. A note is a job that is never due.
"""

from __future__ import annotations

from typing import Final

from ..core.codec import Msgpack, encode_call
from ..core.ids import new_id
from ..core.model import JobQuery, NewJob, Spec
from ..core.states import State
from ..stores.contract import Store

NOTES: Final = "windlass.move"
"""The queue that notes are in, and their task. They stay where they are when jobs move."""

NEVER: Final = 253_402_300_799_000
"""The last second of the year 9999."""

LABEL: Final = "queue"


class Holds:
    """What a move has paused in one store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._notes: dict[str, list[str]] = {}

    async def look(self) -> frozenset[str]:
        """The queues with a note, paused by now or about to be. Needed before all else."""
        notes: dict[str, list[str]] = {}
        query = JobQuery(states=(State.SCHEDULED,), queue=NOTES)
        while True:
            page = await self._store.find(query)
            for job in page.jobs:
                notes.setdefault((job.spec.labels or {}).get(LABEL, ""), []).append(job.id)
            if page.cursor is None:
                self._notes = notes
                return frozenset(notes)
            query = JobQuery(states=query.states, queue=NOTES, cursor=page.cursor)

    async def take(self, queue: str) -> None:
        """Pause a queue. The note comes first: a pause without one counts as people's own."""
        if queue not in self._notes:
            payload = encode_call(Msgpack(), (queue,), {})
            spec = Spec(NOTES, payload, keep=0, labels={LABEL: queue})
            # A fresh id: an insert that is one step everywhere is there or not, and never halfway.
            note = NewJob(new_id(), spec, queue=NOTES, due=NEVER, fresh=True)
            await self._store.insert([note])
            self._notes[queue] = [note.id]
        await self._store.pause(queue)

    async def release(self, queue: str) -> None:
        """Resume a queue. The note goes last, so that it can be done again."""
        await self._store.resume(queue)
        await self.leave(queue)

    async def leave(self, queue: str) -> None:
        """Leave a queue as it is, as people's own."""
        notes = self._notes.pop(queue, None)
        if notes:
            await self._store.delete(notes)
