"""The arguments of a job by their names, as far as they may be seen.

Whatever shows a job, or tells whether one has a certain argument, goes by this: what is redacted
must not be found out by asking for it either.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ..core.codec import Codecs, decode_call
from ..core.model import Job, NewJob, Spec
from ..task import Registry
from .record import as_json

HIDDEN: Final = "***"


class Named(NamedTuple):
    """An argument; the name is None where only the function knows it, and we have no function."""

    name: str | None
    value: Any
    hidden: bool


class Eyes:
    """What of arguments may be seen: all but those of the `hidden` names."""

    def __init__(self, codecs: Codecs, registry: Registry, hidden: Iterable[str] = ()) -> None:
        self._codecs = codecs
        self._registry = registry
        self.hidden = frozenset(hidden)

    def positional(self, spec: Spec, args: Sequence[Any]) -> list[Named]:
        """Arguments by position. If some names are hidden, so is what has no name."""
        if spec.task not in self._registry:
            return [Named(None, value, bool(self.hidden)) for value in args]
        arguments = self._registry[spec.task].arguments
        # The results of other jobs come before what was given.
        before = min(spec.inputs, 1) if spec.gathers else spec.inputs
        named = []
        for place, value in enumerate(args, before):
            name = arguments.name_at(place)
            is_hidden = bool(self.hidden) if name is None else name in self.hidden
            named.append(Named(name, value, is_hidden))
        return named

    def by_name(self, kwargs: Mapping[str, Any]) -> list[Named]:
        return [Named(name, value, name in self.hidden) for name, value in kwargs.items()]

    def seen(self, job: Job | NewJob) -> Iterator[Named]:
        """All that may be seen of what a job was given; nothing of what cannot be read."""
        try:
            args, kwargs = self._call(job)
        except Exception:
            # A codec of the user's own can fail in any way.
            return
        for each in (*self.positional(job.spec, args), *self.by_name(kwargs)):
            if not each.hidden:
                yield each

    def _call(self, job: Job | NewJob) -> tuple[list[Any], dict[str, Any]]:
        spec = job.spec
        codec = self._codecs.get(spec.content_type)
        return decode_call(codec, spec.payload, job.id, spec.task)

    def shown(self, job: Job | NewJob) -> tuple[Sequence[Any] | None, Mapping[str, Any] | None]:
        """What a job is given, as JSON, by position and by name; None if it cannot be read."""
        try:
            args, kwargs = self._call(job)
        except Exception:
            return None, None
        positional, named = self.positional(job.spec, args), self.by_name(kwargs)
        return [_shown(each) for each in positional], {
            str(each.name): _shown(each) for each in named
        }


def _shown(each: Named) -> Any:
    return HIDDEN if each.hidden else as_json(each.value)
