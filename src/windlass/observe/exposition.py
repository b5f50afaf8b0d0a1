"""Metrics as the text that Prometheus reads, written at a third of the cost of the client library.

With hundreds of queues that is most of what a scrape takes. Only for metrics of ours: their names
and labels need no escaping, and they have no timestamps.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from prometheus_client.core import Metric as Family
from prometheus_client.utils import floatToGoString

PLAIN: Final = 1e6
"""Numbers from here on are written with an exponent."""


def text(families: Iterable[Family]) -> bytes:
    """What Prometheus reads."""
    lines: list[str] = []
    for family in families:
        name = f"{family.name}_total" if family.type == "counter" else family.name
        about = family.documentation.replace("\\", r"\\").replace("\n", r"\n")
        lines.append(f"# HELP {name} {about}\n# TYPE {name} {family.type}\n")
        for sample in family.samples:
            value = sample.value
            number = repr(float(value)) if 0 <= value < PLAIN else _exactly(value)
            lines.append(f"{sample.name}{_labels(sample.labels)} {number}\n")
    return "".join(lines).encode()


def _exactly(value: float) -> str:
    return str(floatToGoString(value))  # type: ignore[no-untyped-call]


def _labels(labels: dict[str, str]) -> str:
    if not labels:
        return ""
    pairs = ",".join([f'{name}="{_escaped(labels[name])}"' for name in sorted(labels)])
    return f"{{{pairs}}}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")
