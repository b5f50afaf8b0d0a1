"""Resources: what handlers need and a worker opens once, such as a pool of connections.

A handler asks for one by a default, `pool: Pool = Depends(db)`. To type checkers that is a
`Pool`; to callers it is a parameter that may be left out; to `enqueue` it does not exist.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, Generic, TypeVar

from .core.signature import name_of, signature_of
from .errors import InvalidOption, UsageError

T = TypeVar("T")


_REST: Final = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class Need:
    """The default that stands for a resource in a signature."""

    __slots__ = ("resource",)

    def __init__(self, resource: Resource[Any]) -> None:
        self.resource = resource

    def __repr__(self) -> str:
        return f"Depends({self.resource.name})"


Needs = Mapping[str, Need]
"""The parameters that a worker fills in, by name."""


class Provided:
    """A function that takes nothing but resources: one that makes a resource, or a hook."""

    def __init__(self, func: Callable[..., Any], what: str) -> None:
        if not callable(func) or inspect.isclass(func):
            raise InvalidOption(f"A {what} is made of a function; decorate a def or an async def.")
        self.func = func
        self.name = name_of(func)
        needs: dict[str, Need] = {}
        for parameter in signature_of(func).parameters.values():
            is_need = isinstance(parameter.default, Need)
            is_required = parameter.default is parameter.empty and parameter.kind not in _REST
            if is_need and parameter.kind is not parameter.POSITIONAL_ONLY:
                needs[parameter.name] = parameter.default
            elif is_need or is_required:
                raise InvalidOption(
                    f"{self.name} is a {what} and can take resources only, as in "
                    f"{parameter.name}=Depends(…)."
                )
        self.needs: Needs = needs


class Resource(Provided, Generic[T]):
    """Something that a worker opens when it starts and closes when it ends.

    A function that yields is run on from its `yield` to close; one that returns has nothing
    to close.
    """

    def __init__(self, func: Callable[..., Any]) -> None:
        super().__init__(func, "resource")

    def __repr__(self) -> str:
        return f"<Resource {self.name}>"


def Depends(resource: Resource[T]) -> T:
    """The default of a parameter that the worker fills in with a resource."""
    if not isinstance(resource, Resource):
        raise InvalidOption(f"Depends takes what @app.resource made; got {resource!r}.")
    need: Any = Need(resource)
    return need  # type: ignore[no-any-return]


def hook(func: Callable[..., Any]) -> Provided:
    """A function to be called when a worker starts or stops."""
    if inspect.isgeneratorfunction(func) or inspect.isasyncgenfunction(func):
        raise InvalidOption(f"{name_of(func)} yields: make it a resource, a hook is only called.")
    return Provided(func, "hook")


Values = dict[Resource[Any], Any]
"""What resources came to, in a worker or by an override."""


@contextmanager
def overriding(overrides: Values, resource: Resource[T], value: T) -> Iterator[None]:
    """Let `value` stand for a resource; what stood for it before comes back."""
    if not isinstance(resource, Resource):
        raise InvalidOption(f"override takes what @app.resource made; got {resource!r}.")
    before = {resource: overrides[resource]} if resource in overrides else {}
    overrides[resource] = value
    try:
        yield
    finally:
        del overrides[resource]
        overrides.update(before)


def in_order(wanted: Iterable[Need], overrides: Values) -> list[Resource[Any]]:
    """All resources that must be opened, each after those that it needs itself."""
    order: dict[Resource[Any], None] = {}

    def visit(resource: Resource[Any]) -> None:
        if resource not in overrides and resource not in order:
            for need in resource.needs.values():
                visit(need.resource)
            order[resource] = None

    for need in wanted:
        visit(need.resource)
    return list(order)


def filled(needs: Needs, values: Values, given: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The arguments by name with the resources that are missing from them."""
    full = dict(given)
    for parameter, need in needs.items():
        if parameter not in full:
            if need.resource not in values:
                raise _not_open(name, parameter, need.resource)
            full[parameter] = values[need.resource]
    return full


def _not_open(name: str, parameter: str, resource: Resource[Any]) -> UsageError:
    return UsageError(
        f"{name}() needs {parameter!r}, a resource that a worker opens when it starts: pass "
        f"{parameter}=…, or let a value stand for it with app.override({resource.name}, …)."
    )
