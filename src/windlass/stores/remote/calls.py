"""The methods of the contract as messages: what a client sends, what a server answers.

All of it follows from the contract's own annotations, so that a new method or parameter is a
message without more ado. A message has its arguments by name, in MessagePack; an argument that
has its default may be left out, so that one can be added.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, get_type_hints

import msgspec
from msgspec.structs import replace

from ...core.model import NewJob, Receipt
from ..contract import Store

NOT_OFFERED: Final = frozenset({"blocking", "open", "close"})
"""What is the business of each handle alone."""


class Call:
    """One method: how its arguments and its answer are written and read."""

    def __init__(self, method: Callable[..., Any]) -> None:
        hints = get_type_hints(method)
        _, *parameters = inspect.signature(method).parameters.values()
        self.name = method.__name__
        self.arguments: type[msgspec.Struct] = msgspec.defstruct(
            self.name,
            [_field(each, hints[each.name]) for each in parameters],
            frozen=True,
            forbid_unknown_fields=True,
            omit_defaults=True,
        )
        self.decode_arguments = msgspec.msgpack.Decoder(self.arguments).decode
        self.decode_answer = msgspec.msgpack.Decoder(hints["return"]).decode


def _field(parameter: inspect.Parameter, kind: Any) -> tuple[str, Any] | tuple[str, Any, Any]:
    if parameter.default is parameter.empty:
        return parameter.name, kind
    return parameter.name, kind, parameter.default


def _plain(value: Any) -> Any:
    """What msgspec does not know of the kinds that the contract takes, as one that it does."""
    match value:
        case str():
            return str.__str__(value)
        case Mapping():
            return dict(value)
        case Iterable():
            return list(value)
    raise TypeError(f"{type(value).__name__} is nothing that a store takes")


encode: Final = msgspec.msgpack.Encoder(enc_hook=_plain).encode

CALLS: Final[Mapping[str, Call]] = {
    name: Call(getattr(Store, name))
    for name in sorted(dir(Store))
    if not name.startswith("_") and name not in NOT_OFFERED
}


def as_sent(jobs: Sequence[NewJob], receipts: Sequence[Receipt]) -> Sequence[Receipt]:
    """Receipts that do not take a job for its own duplicate.

    A fresh id cannot have been there before: if it was, by a sending whose answer was lost.
    """
    return [
        replace(receipt, duplicate=False) if job.fresh and receipt.id == job.id else receipt
        for job, receipt in zip(jobs, receipts, strict=True)
    ]
