"""A row of the table of routes, and what its function says of itself."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from types import NoneType, UnionType
from typing import Any, Final, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import msgspec

from ...core.apikey import Role
from .call import Binary, Call, Events, Lines

Handler = Callable[[Call[Any, Any]], Awaitable[Any]]

PUBLIC: Final = "public"
"""For everybody, with or without a key. Said, never left out."""

ANY: Final = "any"
"""For every key: the function that answers looks at the role itself."""

LOGIN: Final = "login"
"""The tag of what lets people in and out, which is for everybody and written down all the same."""

STREAMS: Final[Mapping[Any, str]] = {Events: "text/event-stream", Lines: "application/x-ndjson"}
"""The content types of answers that come bit by bit."""


class NoQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of an address that takes no parameters."""


class Route(NamedTuple):
    """An address, who may use it, and what answers. Made by `route`."""

    method: str
    path: str
    role: Role | None
    is_public: bool
    handler: Handler
    query: type[msgspec.Struct]
    body: Any
    """the type of one that is there"""
    body_optional: bool
    is_raw: bool
    """the body is bytes"""
    answers: Mapping[int, Any]
    """what comes back, by status: a type, the content type of something else than JSON, or None"""
    longest: float
    """seconds that it may take besides what is asked for by `wait`"""
    tag: str
    headers: tuple[str, ...]
    """those of the request that say something here"""

    @property
    def is_audited(self) -> bool:
        """Whether a refusal is written down, too."""
        return self.role in (Role.OPERATE, Role.ADMIN) or self.tag == LOGIN

    @property
    def name(self) -> str:
        return self.handler.__name__

    @property
    def parameters(self) -> list[str]:
        return re.findall(r"{(\w+)}", self.path)


def route(
    method: str,
    path: str,
    rule: Role | Literal["public", "any"],
    handler: Handler,
    *,
    answers: Mapping[int, Any] | None = None,
    longest: float = 0.0,
    tag: str = "",
    headers: tuple[str, ...] = (),
) -> Route:
    """A row of the table: types of query, body and answer are those of the function."""
    if not isinstance(rule, Role) and rule not in (PUBLIC, ANY):
        raise ValueError(f"{method} {path} has no rule: {rule!r}")
    hints = get_type_hints(handler, include_extras=True)
    query, body = get_args(hints["call"]) or (None, None)
    return Route(
        method,
        path,
        rule if isinstance(rule, Role) else None,
        rule == PUBLIC,
        handler,
        NoQuery if query in (None, NoneType) else query,
        None if body in (None, NoneType, bytes) else _given(body),
        _is_optional(body),
        body is bytes,
        answers or _answers(hints["return"]),
        longest,
        tag or path.removeprefix("/api/v1/").partition("/")[0],
        headers,
    )


def _is_optional(kind: Any) -> bool:
    return get_origin(kind) in (Union, UnionType) and NoneType in get_args(kind)


def _given(kind: Any) -> Any:
    """The type of a body that is there."""
    if not _is_optional(kind):
        return kind
    (given,) = [each for each in get_args(kind) if each is not NoneType]
    return given


def _answers(returned: Any) -> Mapping[int, Any]:
    if returned in (None, NoneType):
        return {204: None}
    if returned is Binary:
        raise ValueError("What answers with bytes has to say of which content type they are.")
    return {200: STREAMS.get(returned, returned)}
