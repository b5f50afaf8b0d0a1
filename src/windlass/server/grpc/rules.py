"""Every method that is served, and who may call it. One that is not here is refused to everybody.

A server without keys lets everybody do everything, here as by HTTP.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ...core.apikey import Role

PUBLIC: Final = "public"
"""For everybody, with or without a key. Said, never left out."""

ANY: Final = "any"
"""For every key, whatever its roles."""

RULES: Final[Mapping[str, Role | str]] = {
    "windlass.v1.Jobs.Enqueue": Role.ENQUEUE,
    "windlass.v1.Jobs.EnqueueMany": Role.ENQUEUE,
    "windlass.v1.Jobs.Get": Role.READ,
    "windlass.v1.Jobs.List": Role.READ,
    "windlass.v1.Jobs.Watch": Role.READ,
    "windlass.v1.Jobs.Cancel": Role.OPERATE,
    "windlass.v1.Jobs.Delete": Role.OPERATE,
    "windlass.v1.Work.Register": Role.WORK,
    "windlass.v1.Work.Leave": Role.WORK,
    "windlass.v1.Work.Fetch": Role.WORK,
    "windlass.v1.Work.Extend": Role.WORK,
    "windlass.v1.Work.Ack": Role.WORK,
    "windlass.v1.Work.Nack": Role.WORK,
    "windlass.v1.Work.Release": Role.WORK,
    "windlass.v1.Work.Progress": Role.WORK,
    "windlass.v1.Work.Checkpoint": Role.WORK,
    "grpc.health.v1.Health.Check": PUBLIC,
    "grpc.health.v1.Health.List": PUBLIC,
    "grpc.health.v1.Health.Watch": PUBLIC,
    "grpc.reflection.v1alpha.ServerReflection.ServerReflectionInfo": ANY,
}
