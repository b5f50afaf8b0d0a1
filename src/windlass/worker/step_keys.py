"""The keys of a step that come of what flows into it: of its limit, sequence, group or batch.

What flows in is known when the steps before have ended, and by then the store lets the step go. So
a job of ours waits in between: it runs when all of that is there, and the step waits for it. It
computes the keys, replaces the blocked step by one that has them, and ends; then the store lets the
step go into its lane. It can die at any moment and be run again.

To be replaced the step holds a unique key of its own. Were it called off at that very moment, what
was to replace it would be a new job: that one waits for this job, which deletes it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from msgspec.structs import replace

from ..core.codec import Codecs, decode_call
from ..core.keyed import Caller, keyed_late
from ..core.model import Job, NewJob, Spec
from ..core.step import COMPUTED_LATER
from ..definition import Definition
from ..errors import Fatal, Snooze, StoreUnavailable
from ..members import get_all
from ..stores.contract import Store
from ..task import Registry
from ..workflows.outline import is_keyed_late, step_of

SOON: Final = 1.0
LOOKS: Final = 20
LOOK: Final = 0.02
LONGEST_WAIT: Final = 60_000
"""How long a step may take to come, in milliseconds."""

Inputs = Callable[[Job], Awaitable[Sequence[Any]]]


class StepKeys:
    """Computes the keys of steps, by the tasks as this worker has them."""

    def __init__(self, store: Store, codecs: Codecs, registry: Registry, inputs: Inputs) -> None:
        self._store = store
        self._codecs = codecs
        self._registry = registry
        self._inputs = inputs

    async def give(self, own: Job) -> None:
        """Give the step that waits for this job its keys, unless it has them by now."""
        id, instead = step_of(own.id), f"{own.id}:instead"
        step = await self._step(id, own)
        if own.id in step.waits_for and is_keyed_late(step.spec):
            if len(step.waits_for) > 1:
                raise Snooze(SOON, reason=f"job {id} waits for others, too")
            await self._store.insert([await self._new(step, instead)])
        await self._store.delete([instead])

    async def _step(self, id: str, own: Job) -> Job:
        """The step. Where jobs of one call are stored one by one, it comes after this job."""
        for _ in range(LOOKS):
            step = (await self._store.get([id])).get(id)
            if step is not None:
                return step
            await asyncio.sleep(LOOK)
        if (own.started_at or 0) - own.created_at < LONGEST_WAIT:
            raise Snooze(SOON, reason=f"job {id} is not there yet")
        # Were this job completed, the step could come later and run without its keys.
        raise Fatal(f"job {id} is not there: it was deleted, or the workflow never was complete")

    async def _new(self, step: Job, id: str) -> NewJob:
        """What the step is to be replaced by."""
        spec = await self._keyed(step)
        # Some of those that it does not take results from may be kept no longer.
        there = await get_all(self._store, spec.parents)
        spec = replace(spec, parents=tuple(each for each in spec.parents if each in there))
        return NewJob(
            id,
            spec,
            step.queue,
            step.priority,
            due=step.due,
            unique=step.unique,
            conflict="replace",
        )

    async def _keyed(self, step: Job) -> Spec:
        """The spec of a step with its keys; `Fatal` if its functions cannot compute them."""
        spec, definition = step.spec, self._registry[step.spec.task]
        headers = dict(spec.headers or {})
        names = headers.pop(COMPUTED_LATER).split()
        plain = replace(spec, headers=headers or None)
        try:
            caller = await self._caller(definition, step)
            return keyed_late(plain, definition.options, names, caller)
        except (Snooze, StoreUnavailable):
            raise
        except Exception as error:
            if spec.runs_anyway:
                # Or it would run without its keys.
                await self._store.cancel([step.id])
            raise Fatal(
                f"the {' and the '.join(names)} of {step.id}, a job of {spec.task}, cannot be "
                f"computed: {type(error).__name__}: {error}"
            ) from error

    async def _caller(self, definition: Definition, step: Job) -> Caller:
        """The arguments as the handler will get them."""
        inputs = await self._inputs(step)
        codec = self._codecs.get(step.spec.content_type)
        args, kwargs = decode_call(codec, step.spec.payload, step.id, step.task)
        args[:0] = inputs
        definition.arguments.check(args, kwargs)
        definition.arguments.convert(args, kwargs, binary=codec.binary)
        return Caller(definition.arguments, args, kwargs)
