"""How log lines are written: for people, for files, for programs.

Each formatter adds the fields of the running attempt by itself, with or without `JobFilter`.
"""

from __future__ import annotations

import logging
import os
import re
import time
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

import msgspec

from .fields import FIELDS, JOBS, attempt_fields

PLAIN: Final = "%(asctime)s %(levelname)-7s [%(process)d] %(name)s: %(message)s"

OWN: Final = {*vars(logging.makeLogRecord({})), "message", "asctime", "taskName", *FIELDS}
"""Attributes of a record that are not from `extra`."""

SAID: Final = ("job_id", "task", "attempt", "fence")
"""What lines of single jobs say themselves, or need not say to people."""

_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_RESET: Final = "\033[0m"
_DIM: Final = "\033[2m"
_COLOURS: Final = {
    logging.DEBUG: _DIM,
    logging.INFO: "\033[32m",
    logging.WARNING: "\033[33m",
    logging.ERROR: "\033[31m",
    logging.CRITICAL: "\033[1;31m",
}


class Held(NamedTuple):
    """A line of level INFO that is still to be written: `form` takes `args` by %."""

    logger: str
    created: float
    form: str
    args: tuple[Any, ...]


class LineFormatter(logging.Formatter):
    """Writes many lines of level INFO, of no attempt's, as it would write a record of each."""

    def lines(self, held: Iterable[Held]) -> str:
        """Their text, without the end of the last one."""
        return "\n".join(self.format(record_of(each)) for each in held)


class PlainFormatter(LineFormatter):
    """A line of text, with the fields behind it as name=value."""

    def __init__(self) -> None:
        super().__init__(PLAIN)

    def formatMessage(self, record: logging.LogRecord) -> str:
        return " ".join([super().formatMessage(record), *_pairs(record)])

    def format(self, record: logging.LogRecord) -> str:
        return _harmless(super().format(record))

    def lines(self, held: Iterable[Held]) -> str:
        # A tenth of what records cost: they look up thread and process, and write out each second
        # again and again.
        second, stamp, process, written = -1, "", os.getpid(), []
        for logger, created, form, args in held:
            if int(created) != second:
                second = int(created)
                stamp = time.strftime(self.default_time_format, self.converter(second))
            ms = int((created - second) * 1000)
            written.append(f"{stamp},{ms:03d} INFO    [{process}] {logger}: {form % args}")
        return _harmless("\n".join(written))


class PrettyFormatter(LineFormatter):
    """A line for a terminal, in colours unless NO_COLOR is set."""

    def __init__(self, *, colours: bool | None = None) -> None:
        super().__init__()
        self._colours = not os.environ.get("NO_COLOR") if colours is None else colours

    def usesTime(self) -> bool:
        return False

    def format(self, record: logging.LogRecord) -> str:
        # A traceback that another formatter has made, or whoever made the record.
        record.exc_text = record.exc_text and _harmless(record.exc_text)
        return super().format(record)

    def formatMessage(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created).strftime("%H:%M:%S.%f")[:-3]
        level = self._in(_COLOURS.get(record.levelno, ""), f"{record.levelname:<7}")
        tail = self._in(_DIM, _harmless(" ".join([record.name, *_pairs(record)])))
        return f"{self._in(_DIM, at)} {level} {_harmless(record.message)}  {tail}"

    def formatException(self, ei: Any) -> str:
        return _harmless(super().formatException(ei))

    def _in(self, colour: str, text: str) -> str:
        return f"{colour}{text}{_RESET}" if self._colours and colour else text


class JsonFormatter(LineFormatter):
    """One JSON object on a line: time, level, logger, message, process, the fields, an error if
    there is one, and what the caller gave as `extra`."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": _moment(record.created),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            "process": record.process,
            **fields_of(record),
        }
        error = self._error(record)
        if error:
            line["error"] = error
        if record.stack_info:
            line["stack"] = record.stack_info
        extra = {name: value for name, value in vars(record).items() if name not in OWN}
        return _json({**extra, **line})

    def lines(self, held: Iterable[Held]) -> str:
        process = os.getpid()
        return "\n".join(
            _json(
                {
                    "time": _moment(created),
                    "level": "info",
                    "logger": logger,
                    "message": form % args,
                    "process": process,
                }
            )
            for logger, created, form, args in held
        )

    def _error(self, record: logging.LogRecord) -> Mapping[str, str]:
        found: dict[str, str] = {}
        if record.exc_info and record.exc_info[0] is not None:
            found = {"kind": record.exc_info[0].__name__, "message": _said(record.exc_info[1])}
            record.exc_text = record.exc_text or self.formatException(record.exc_info)
        if record.exc_text:
            found["traceback"] = record.exc_text
        return found


def record_of(line: Held) -> logging.LogRecord:
    record = logging.LogRecord(line.logger, logging.INFO, "", 0, line.form, line.args, None)
    record.created = line.created
    record.msecs = float(int(line.created % 1 * 1000))
    return record


def _moment(created: float) -> str:
    return datetime.fromtimestamp(created, UTC).isoformat(timespec="milliseconds")


def fields_of(record: logging.LogRecord) -> Mapping[str, Any]:
    """What is known of the attempt that a record is of; its own attributes come first."""
    own = {name: value for name in FIELDS if (value := vars(record).get(name, "")) != ""}
    return {**attempt_fields(), **own}


def _pairs(record: logging.LogRecord) -> list[str]:
    """The fields that the message does not say already."""
    said = SAID if record.name == JOBS else ()
    return [
        f"{name}={value}"
        for name, value in fields_of(record).items()
        if name not in said and not (name == "job_id" and str(value) in record.message)
    ]


def _said(error: BaseException | None) -> str:
    try:
        return str(error)
    except Exception as unprintable:
        return f"(its text cannot be shown: {type(unprintable).__name__})"


def _json(line: Mapping[str, Any]) -> str:
    try:
        return msgspec.json.encode(line, enc_hook=repr).decode()
    except Exception:
        # A key that is no text, a letter that UTF-8 does not have: the line is worth more.
        return msgspec.json.encode({_text(k): _text(v) for k, v in line.items()}).decode()


def _text(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float):
        return value
    text = value if isinstance(value, str) else repr(value)
    return text.encode("utf-8", "backslashreplace").decode()


def _harmless(text: str) -> str:
    """Text without control codes, which errors may have from anywhere; lines and tabs stay."""
    return _CONTROL.sub(lambda found: repr(found[0])[1:-1], text)
