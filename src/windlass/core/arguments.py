"""What a task's function takes and returns, as data.

The caller checks the shape of a call (how many arguments, which names) and that the values
fit the annotated types; the worker converts the decoded values to them.  Annotations are
resolved at the first use, not at decoration, so a task may name a class that is defined further
down; the caller's and the worker's by themselves, since a caller may come before that class.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter
from itertools import pairwise
from typing import Any, Final, NamedTuple

from ..errors import CorruptRecord, InvalidArguments, InvalidOption
from .convert import MISFITS, Converter, Scope, converter_for
from .fit import Fit, anything, exact_of, fit_of
from .parameter import Described, described
from .signature import is_marker, name_of, rendered, scope_of, signature_of

_POSITIONAL: Final = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
_NAMED: Final = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
_FOLLOWED: Final = (*_POSITIONAL, Parameter.VAR_POSITIONAL)
"""Kinds that take values by their place, and so move if one before them is left out."""


class Arguments:
    """The signature of one task, made once and used for every call.

    `takes_context` says that the function's first parameter is not part of a call: the
    worker fills it in. `left_out` has those parameters, by name, of which the same is true
    because of their defaults.
    """

    __slots__ = (
        "_described",
        "_early",
        "_plan",
        "_scope",
        "_shape",
        "_signature",
        "_text",
        "left_out",
        "name",
        "takes_context",
    )

    def __init__(
        self, func: Callable[..., Any], inject: type | None = None, leave_out: type | None = None
    ) -> None:
        self.name = name_of(func)
        self._scope = scope_of(func)
        self._signature = signature_of(func)
        self.takes_context = inject is not None and self._has_context(inject)
        self.left_out: dict[str, Any] = {} if leave_out is None else self._leave_out(leave_out)
        self._text = rendered(self._parameters())
        self._shape = _Shape.of(self._parameters())
        self._plan: _Plan | None = None
        self._early: _Early | None = None
        self._described: Sequence[Described] | None = None

    @classmethod
    def of(
        cls, func: Callable[..., Any], inject: type | None = None, leave_out: type | None = None
    ) -> Arguments:
        """Those of `func`; a first parameter annotated with `inject` is left to the worker.

        So are parameters whose default is a `leave_out`.
        """
        return cls(func, inject, leave_out)

    def __str__(self) -> str:
        return f"{self.name}{self._text}"

    def check(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Refuse a call that the function could not take; types are not looked at."""
        least, most, keywords = self._shape
        count = len(args)
        if not kwargs:
            if least <= count <= most:
                return
        elif count <= most:
            required, allowed = keywords[min(count, len(keywords) - 1)]
            if required <= kwargs.keys() <= allowed:
                return
        self._check_slowly(args, kwargs)

    def takes_one(self) -> bool:
        """Whether a call has exactly one argument, which can be given without its name."""
        least, most, keywords = self._shape
        return (least, most) == (1, 1) and not keywords[-1][1]

    def name_at(self, place: int) -> str | None:
        """The parameter that the argument at a place of a call goes to; None if there is none."""
        parameters = self._parameters()
        positional = [each.name for each in parameters if each.kind in _POSITIONAL]
        if place < len(positional):
            return positional[place]
        rest = (each.name for each in parameters if each.kind is each.VAR_POSITIONAL)
        return next(rest, None)

    def describe(self) -> Sequence[Described]:
        """The parameters of a call as data."""
        if self._described is None:
            self._described = described(self._parameters(), self._scope)
        return self._described

    def check_partly(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Refuse a call that the function could not take, however many arguments came before."""
        parameters = self._parameters()
        for before in range(len(parameters) + 1):
            if self._problem([None] * before + [*args], kwargs) is None:
                return
        positional = sum(parameter.kind in _POSITIONAL for parameter in parameters)
        self._check_slowly([None] * (positional - len(args)) + [*args], kwargs)

    def bound(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a call that was checked, by parameter, with the defaults."""
        context = (None,) if self.takes_context else ()
        call = self._signature.bind(*context, *args, **kwargs)
        call.apply_defaults()
        return {name: call.arguments[name] for name in [*call.arguments][self.takes_context :]}

    def convert(
        self, args: list[Any], kwargs: dict[str, Any], *, binary: bool = False
    ) -> tuple[list[Any], dict[str, Any]]:
        """Decoded values as the annotated types, in place; the shape is left to `check`.

        `binary` is the codec's: with it, text given for bytes is refused; without it, the
        text is taken for base64.
        """
        return self._converted(self._plan or self._resolve(), args, kwargs, binary)

    def fits(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
        """Whether the values surely fit; if not, `refuse_misfits` knows."""
        early = self._early or self._look_early()
        count = len(args)
        for index, exact, fit in early.positional:
            if index >= count:
                break
            value = args[index]
            if type(value) is not exact and not fit(value):
                return False
        if early.rest is not None and not all(map(early.rest, args[early.arity :])):
            return False
        return not kwargs or early.fits_named(kwargs)

    def refuse_misfits(
        self, args: list[Any], kwargs: dict[str, Any], *, binary: bool = False, before: int = 0
    ) -> None:
        """Raise for decoded values that `convert` would refuse, of which `before` come first.

        They may be changed by it. A type that is not there yet is not looked at.
        """
        plan = (self._early or self._look_early()).plan
        try:
            self._converted(plan.after(before) if before else plan, args, kwargs, binary)
        except InvalidArguments:
            raise
        except Exception:
            # Of the app's own code, which may need what only a worker has.
            return

    def _converted(
        self, plan: _Plan, args: list[Any], kwargs: dict[str, Any], binary: bool
    ) -> tuple[list[Any], dict[str, Any]]:
        count = len(args)
        for index, converter in plan.positional:
            if index >= count:
                break
            if type(args[index]) is not converter.exact:
                args[index] = self._one(converter, converter.name, args[index], binary)
        if (rest := plan.rest) is not None:
            for index in range(plan.arity, count):
                args[index] = self._one(rest, rest.name, args[index], binary)
        if kwargs and (plan.named or plan.others):
            for name, value in kwargs.items():
                by_name = plan.named.get(name, plan.others)
                if by_name is not None and type(value) is not by_name.exact:
                    kwargs[name] = self._one(by_name, name, value, binary)
        return args, kwargs

    def result(self, value: Any, *, binary: bool = False) -> Any:
        """A decoded result as the annotated return type."""
        converter = (self._plan or self._resolve()).returns
        if converter is None or type(value) is converter.exact:
            return value
        try:
            return converter(value, binary)
        except MISFITS as error:
            raise CorruptRecord(
                f"The result of {self.name}() does not fit its return annotation: {error}."
            ) from error

    def _one(self, converter: Converter, name: str, value: Any, binary: bool) -> Any:
        try:
            return converter(value, binary)
        except MISFITS as error:
            raise InvalidArguments(f"{self.name}() argument {name!r}: {error}.") from error

    def _check_slowly(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        if problem := self._problem(args, kwargs):
            raise InvalidArguments(f"{self.name}() {problem}; it takes {self._text}.")

    def _problem(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str | None:
        for name in kwargs.keys() & self.left_out.keys():
            return f"got {name!r}, which is left to the worker"
        for parameter in self._parameters()[len(args) :]:
            # Python 3.13's `bind` takes a keyword of this name, meant for `**kwargs`, for it.
            if parameter.kind is parameter.POSITIONAL_ONLY and _required([parameter]):
                return f"missing a required positional-only argument: {parameter.name!r}"
        context = (None,) if self.takes_context else ()
        try:
            self._signature.bind(*context, *args, **kwargs)
        except TypeError as error:
            text = str(error)
            return text if text.startswith(("missing", "got")) else f"got {text}"
        return None

    def _parameters(self) -> list[Parameter]:
        """All but the context."""
        return list(self._signature.parameters.values())[self.takes_context :]

    def _leave_out(self, marker: type) -> dict[str, Any]:
        """Take the parameters with such a default out of the signature; they must go by name."""
        parameters = list(self._signature.parameters.values())
        marked = {p.name: p.default for p in parameters if isinstance(p.default, marker)}
        for before, after in pairwise(parameters):
            if before.name in marked and after.name not in marked and after.kind in _FOLLOWED:
                raise InvalidOption(
                    f"{before.name!r} of {self.name}() is left to the worker and must come "
                    f"after {after.name!r}."
                )
        for parameter in parameters:
            if parameter.name in marked and parameter.kind is parameter.POSITIONAL_ONLY:
                raise InvalidOption(
                    f"{parameter.name!r} of {self.name}() is left to the worker, so it cannot "
                    "be positional-only."
                )
        rest = [parameter for parameter in parameters if parameter.name not in marked]
        self._signature = self._signature.replace(parameters=rest)
        return marked

    def _has_context(self, inject: type) -> bool:
        for index, parameter in enumerate(self._signature.parameters.values()):
            if is_marker(parameter.annotation, inject, self._scope):
                if index == 0 and parameter.kind in _POSITIONAL:
                    return True
                raise InvalidOption(
                    f"{self.name}() must take its {inject.__name__} as the first positional "
                    f"parameter, which {parameter.name!r} is not."
                )
        return False

    def _look_early(self) -> _Early:
        self._early = _Early.of(_Plan.of(self._parameters(), None, self._scope))
        return self._early

    def _resolve(self) -> _Plan:
        returns = converter_for("return", self._signature.return_annotation, self._scope)
        self._plan = _Plan.of(self._parameters(), returns, self._scope)
        return self._plan


class _Shape(NamedTuple):
    """What every call is held against, counted once.

    `keywords[n]` has the names that a call with n positional arguments must give and may
    give.  Where only `bind` can tell (a `**kwargs`), it may give none.
    """

    least: int
    most: int
    keywords: list[tuple[frozenset[str], frozenset[str]]]

    @classmethod
    def of(cls, parameters: list[Parameter]) -> _Shape:
        kinds = {p.kind for p in parameters}
        positional = [p for p in parameters if p.kind in _POSITIONAL]
        named = [p for p in parameters if p.kind is p.KEYWORD_ONLY]
        needs_keywords = bool(_required(named))
        keywords = []
        for count in range(len(positional) + 1):
            left = positional[count:] + named
            allowed = {p.name for p in left if p.kind is not p.POSITIONAL_ONLY}
            known = Parameter.VAR_KEYWORD not in kinds
            keywords.append((_required(left), frozenset(allowed if known else ())))
        return cls(
            sys.maxsize if needs_keywords else len(_required(positional)),
            sys.maxsize if Parameter.VAR_POSITIONAL in kinds else len(positional),
            keywords,
        )


class _Plan(NamedTuple):
    """The converters of those parameters that need one; `others` is that of `**kwargs`."""

    arity: int
    positional: list[tuple[int, Converter]]
    rest: Converter | None
    named: dict[str, Converter | None]
    others: Converter | None
    returns: Converter | None

    @classmethod
    def of(cls, parameters: list[Parameter], returns: Converter | None, scope: Scope) -> _Plan:
        made = [(p.kind, converter_for(p.name, p.annotation, scope)) for p in parameters]
        positional = [converter for kind, converter in made if kind in _POSITIONAL]
        others = next((c for kind, c in made if kind is Parameter.VAR_KEYWORD), None)
        return cls(
            arity=len(positional),
            positional=[(index, c) for index, c in enumerate(positional) if c is not None],
            rest=next((c for kind, c in made if kind is Parameter.VAR_POSITIONAL), None),
            named={
                parameter.name: converter
                for parameter, (kind, converter) in zip(parameters, made, strict=True)
                # Without `**kwargs` a missing name and one without a converter are the same.
                if kind in _NAMED and (converter is not None or others is not None)
            },
            others=others,
            returns=returns,
        )

    def after(self, before: int) -> _Plan:
        """That of a call whose first arguments are not there yet."""
        left = [(index - before, each) for index, each in self.positional if index >= before]
        return self._replace(arity=max(self.arity - before, 0), positional=left)


class _Early(NamedTuple):
    """What the caller knows of the types: the converters, and a quick look at each value."""

    plan: _Plan
    arity: int
    positional: list[tuple[int, type | None, Fit]]
    rest: Fit | None
    named: dict[str, Fit]
    others: Fit | None

    @classmethod
    def of(cls, plan: _Plan) -> _Early:
        return cls(
            plan,
            plan.arity,
            [(index, exact_of(each.kind), fit_of(each.kind)) for index, each in plan.positional],
            None if plan.rest is None else fit_of(plan.rest.kind),
            {name: _fit(each) for name, each in plan.named.items()},
            None if plan.others is None else fit_of(plan.others.kind),
        )

    def fits_named(self, kwargs: Mapping[str, Any]) -> bool:
        for name, value in kwargs.items():
            fit = self.named.get(name, self.others)
            if fit is not None and not fit(value):
                return False
        return True


def _fit(converter: Converter | None) -> Fit:
    return anything if converter is None else fit_of(converter.kind)


def _required(parameters: list[Parameter]) -> frozenset[str]:
    return frozenset(p.name for p in parameters if p.default is p.empty)
