"""Errors as RFC 9457 problem documents."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import Final

import msgspec

from ..faults import Fault

CONTENT_TYPE: Final = b"application/problem+json"
_CAPITAL: Final = re.compile(r"(?<!^)(?=[A-Z])")


class Problem(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was wrong, and what to do."""

    type: str
    """where this kind of problem is described"""
    title: str
    status: int
    detail: str
    """one sentence"""
    error: str
    """the name of the error in Python"""
    retry_after: float | None = None
    """seconds after which to try again"""


def problem_of(fault: Fault) -> Problem:
    return Problem(
        f"/docs#{slug(fault.name)}",
        HTTPStatus(fault.status).phrase,
        fault.status,
        fault.sentence,
        fault.name,
        fault.after,
    )


def slug(name: str) -> str:
    """The name of an error as it stands in an address."""
    return _CAPITAL.sub("-", name).lower()


def headers_of(fault: Fault) -> list[tuple[bytes, bytes]]:
    """What goes along with a problem."""
    headers = []
    if fault.status == HTTPStatus.UNAUTHORIZED:
        headers.append((b"www-authenticate", b'Bearer realm="windlass"'))
    if fault.after is not None:
        headers.append((b"retry-after", b"%d" % max(1, round(fault.after + 0.5))))
    return headers


def raw_answer(fault: Fault) -> bytes:
    """A whole answer, after which the connection ends: for what is not even a request."""
    body = msgspec.json.encode(problem_of(fault))
    headers = [
        (b"content-type", CONTENT_TYPE),
        (b"content-length", b"%d" % len(body)),
        (b"connection", b"close"),
        *headers_of(fault),
    ]
    lines = [b"HTTP/1.1 %d %s" % (fault.status, HTTPStatus(fault.status).phrase.encode())]
    lines += [b"%s: %s" % header for header in headers]
    return b"\r\n".join([*lines, b"", body])
