"""The attempts of a job, written for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..admin.moment import iso
from ..core.attempts import AttemptRecord


def attempt_lines(attempts: Sequence[AttemptRecord]) -> Iterator[str]:
    """Each attempt, what it logged and why it failed."""
    if not attempts:
        yield "\nNothing is kept of its attempts: none failed or logged, or it was too long ago."
    for record in attempts:
        yield f"\nattempt {record.attempt}, fence {record.fence}: {_end(record)}"
        for line in record.lines:
            yield f"  {iso(line.at)} {line.level:<7} {line.logger}: {_indented(line.text)}"
        if record.error is not None:
            yield f"  {_indented(record.error.traceback.rstrip() or str(record.error))}"


def _end(record: AttemptRecord) -> str:
    by = f" by {record.worker}" if record.worker else ""
    if record.ended_at is None:
        return f"begun {iso(record.started_at)}{by}, no end is known"
    seconds = max(record.ended_at - record.started_at, 0) / 1000
    what = "lease lost" if record.state is None else record.state
    return f"{what} after {seconds:g} s, begun {iso(record.started_at)}{by}"


def _indented(text: str) -> str:
    return text.replace("\n", "\n    ")
