"""An exception on its way from a child process to the worker."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

from ...core.model import Failure
from ...core.outcome import failure_of
from .presentable import presentable


class FromChild(Exception):
    """The cause of an exception that was raised in a child: where it came from, as told there."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(f"\n{failure.traceback}")
        self.failure = failure


class Raised(NamedTuple):
    """What a handler raised. Many exceptions cannot be pickled, or not read back: then the names
    of the class and its bases have to do."""

    failure: Failure
    pickled: bytes | None
    kinds: tuple[tuple[str, str], ...]
    state: Mapping[str, Any]

    @classmethod
    def of(cls, error: BaseException) -> Raised:
        """What is left of an exception when it leaves its process."""
        error = presentable(error)
        kinds = tuple((kind.__module__, kind.__qualname__) for kind in type(error).__mro__)
        state = {name: value for name, value in vars(error).items() if _copy(value)}
        return cls(failure_of(error), _copy(error), kinds, state)

    def rebuilt(self) -> BaseException:
        """The exception, or the nearest to it that can be made here, with its origin as cause."""
        error = self._unpickled()
        if error is None:
            error = self._made()
        # Not by an assignment, which a frozen dataclass refuses.
        BaseException.__dict__["__cause__"].__set__(error, FromChild(self.failure))
        return error

    def _unpickled(self) -> BaseException | None:
        if self.pickled is None:
            return None
        try:
            error = pickle.loads(self.pickled)
        except Exception:  # a class that only the child can import
            return None
        return error if isinstance(error, BaseException) else None

    def _made(self) -> BaseException:
        for module, name in self.kinds:
            kind = _class(module, name)
            if kind is not None:
                try:
                    # Not by calling it: what its __init__ wants is not known.
                    error = kind.__new__(kind)
                    error.args = (self.failure.message,)
                    vars(error).update(self.state)
                except Exception:  # a class that cannot be made like this; a base of it can
                    continue
                return error
        return Exception(self.failure.message)


def _copy(value: Any) -> bytes | None:
    """The value pickled, if it can be read back."""
    try:
        pickled = pickle.dumps(value)
        return pickled if type(pickle.loads(pickled)) is type(value) else None
    except BaseException:  # whatever its own methods raise, it is only a copy that cannot be made
        return None


def _class(module: str, name: str) -> type[BaseException] | None:
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found if isinstance(found, type) and issubclass(found, BaseException) else None
