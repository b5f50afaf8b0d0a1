"""The head of a request: what the parser found in it, as ASGI has it, or what is wrong with it."""

from __future__ import annotations

from typing import Any, Final, NamedTuple
from urllib.parse import unquote

import httptools

from ..faults import Fault, HeadTooLarge, Malformed, fault_of
from .forwarded import Header, Networks, apply, without
from .messages import Scope

LARGE: Final = fault_of(HeadTooLarge("The head of the request is larger than this server takes."))
GARBLED: Final = fault_of(Malformed("This is not a request of HTTP/1.1."))

CHUNKED: Final = -1
"""The length of a body that says itself where it ends."""
VERSIONS: Final = ("1.1", "1.0")
ONCE: Final = (b"host", b"content-length", b"transfer-encoding")
"""Headers that would mean two things if they came twice."""


class Head(NamedTuple):
    """A head that was read."""

    scope: Scope
    length: int
    """bytes of the body, or `CHUNKED`"""
    expects: bool
    """whether the client waits to be told that it may send its body"""
    is_kept: bool
    """whether the client wants to go on with the connection"""


def read_head(
    parser: Any,
    target: bytes,
    headers: list[Header],
    base: Scope,
    proxies: Networks | None,
    *,
    is_kept: bool,
) -> Head | Fault:
    """A head that is complete; `base` is the scope as far as the connection has it.

    `proxies` are those that are believed, if the connection comes from one of them.
    """
    version = parser.get_http_version()
    fields = dict(headers)
    if version not in VERSIONS or (len(fields) != len(headers) and _is_twofold(headers)):
        return GARBLED
    length = _length(fields, version)
    if length is None:
        return GARBLED
    if target[:1] != b"/" or b"#" in target:
        found = _split(target, headers)
        if found is None:
            return GARBLED
        target, headers = found
    path, _, query = target.partition(b"?")
    scope = dict(base)
    text = path.decode("latin-1")
    root = scope["root_path"]
    scope["http_version"] = version
    scope["method"] = parser.get_method().decode("ascii")
    scope["path"] = root + (unquote(text) if "%" in text else text)
    scope["raw_path"] = root.encode() + path if root else path
    scope["query_string"] = query
    if proxies is not None:
        headers = apply(scope, headers, proxies)
    elif b"x-forwarded-" in b"".join(fields):
        headers = without(headers)
    scope["headers"] = headers
    expects = version == "1.1" and fields.get(b"expect", b"").lower() == b"100-continue"
    return Head(scope, length, expects, is_kept and version == "1.1")


def _length(fields: dict[bytes, bytes], version: str) -> int | None:
    """How long the body is. The parser has refused what is no number, and both at once."""
    coding = fields.get(b"transfer-encoding")
    if coding is not None:
        is_known = version == "1.1" and coding.strip().lower() == b"chunked"
        return CHUNKED if is_known and b"content-length" not in fields else None
    text = fields.get(b"content-length", b"0")
    return int(text) if text.isdigit() else None


def _is_twofold(headers: list[Header]) -> bool:
    names = [name for name, _ in headers]
    return any(names.count(name) > 1 for name in ONCE)


def _split(target: bytes, headers: list[Header]) -> tuple[bytes, list[Header]] | None:
    """A target that is not just a path; the host in it counts, not that of a header."""
    if target == b"*":
        return target, headers
    try:
        url = httptools.parse_url(target)
    except httptools.HttpParserInvalidURLError:
        return None
    if url.path is None and url.host is None:
        return None
    path = url.path or b"/"
    if url.query is not None:
        path += b"?" + url.query
    if url.host is not None and target[:1] != b"/":
        host = url.host if url.port is None else b"%b:%d" % (url.host, url.port)
        headers = [(b"host", host), *(each for each in headers if each[0] != b"host")]
    return path, headers


def resumed(length: int) -> bytes:
    """A head for a parser that is to go on with a body of this length."""
    framing = b"transfer-encoding: chunked" if length == CHUNKED else b"content-length: %d" % length
    return b"POST / HTTP/1.1\r\n%b\r\n\r\n" % framing
