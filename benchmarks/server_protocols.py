"""What different servers of ASGI make of the same app: `POST /api/v1/jobs` by each, turn by turn.

Ours is compared with uvicorn, hypercorn and granian, as far as they are installed; these get the
app as their users would give it to them. The store is in memory and there is no access log, so
that what is compared is a large part of all that is done.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from statistics import median

from .process import isolated
from .server import ONE
from .server_load import Answered, Target, load, post
from .server_process import Served, process_on_port
from .table import Line, paired

CONNECTIONS = 32
SECONDS = 2.0
ROUNDS = 7

APP = "benchmarks.server_asgi:app"
OWN = "windlass"
OTHERS = ("uvicorn", "hypercorn", "granian")
QUIET = ("--grpc-port=-1", "--no-upkeep", "--no-access-log")


def command_of(name: str, port: int) -> list[str]:
    """How each is started, as one process with uvloop."""
    if name == OWN:
        words = ["windlass.cli.main", "server", "-A", "benchmarks.jobs:app", *QUIET]
        return [*words, f"--http-port={port}"]
    return {
        "uvicorn": ["uvicorn", APP, f"--port={port}", "--no-access-log", "--log-level=warning"],
        "hypercorn": ["hypercorn", APP, f"--bind=127.0.0.1:{port}", "--worker-class=uvloop"],
        "granian": ["granian", APP, f"--port={port}", "--interface=asgi", "--loop=uvloop"],
    }[name]


def lines() -> Iterator[Line]:
    others = [name for name in OTHERS if find_spec(name)]
    with ExitStack() as stack:
        served = {
            name: stack.enter_context(process_on_port(partial(command_of, name)))
            for name in (OWN, *others)
        }
        rounds = [
            {name: isolated(load, target(each), SECONDS, CONNECTIONS) for name, each in turn}
            for turn in (list(served.items()) for _ in range(ROUNDS))
        ]
    for name in others:
        yield _compared(name, [(each[OWN], each[name]) for each in rounds])


def target(served: Served) -> Target:
    return Target(served.port, worker_of(served.pid), post("/api/v1/jobs", ONE))


def worker_of(pid: int) -> int:
    """The process that answers: hypercorn and granian have it as a child."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()
    for child in children:
        if b"resource_tracker" not in Path(f"/proc/{child}/cmdline").read_bytes():
            return int(child)
    return pid


def _compared(name: str, answered: list[tuple[Answered, Answered]]) -> Line:
    rates = [(ours.rate, other.rate) for ours, other in answered]
    line = paired(f"memory: POST /jobs, {OWN} / {name}", rates, (OWN, name))
    costs = [median(each[at].cost for each in answered) for at in (0, 1)]
    return line._replace(detail=f"{line.detail}; {costs[0]:.0f} and {costs[1]:.0f} µs for each")
