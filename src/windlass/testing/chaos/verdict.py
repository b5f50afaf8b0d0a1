"""What a chaos run came to."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

import msgspec

from .record import PROCESS, Accepted, Effect, Event, Fault, Finished, Outcome, Started
from .rules import Breach, check


class Verdict(msgspec.Struct, frozen=True):
    """The figures of a run, and every promise that was not kept."""

    seconds: float
    jobs: int
    kills: int
    stops: int
    """SIGSTOP, and after a while SIGCONT"""
    ends: int
    """SIGTERM"""
    restarts: int
    """what befell the store: restarts, failovers, cuts"""
    served: int
    """jobs that a server took"""
    faults: Mapping[str, int]
    """all that was done, as in `kill worker` and `restart`, and how often"""
    executed_twice: int
    """jobs that had their effect more than once: allowed"""
    completed_twice: int
    lost: int
    breaches: tuple[Breach, ...]
    recoveries: tuple[float, ...]
    """for each job that a killed process had: the seconds until it ran again; in order"""

    @property
    def is_clean(self) -> bool:
        return not self.breaches

    def recovery(self, part: float) -> float | None:
        """The seconds within which this part of the jobs ran again."""
        times = self.recoveries
        return times[min(int(len(times) * part), len(times) - 1)] if times else None


def judge(
    seconds: float, events: Sequence[Event], outcome: Outcome, *, forgets: bool = False
) -> Verdict:
    faults = Counter(event.kind for event in events if isinstance(event, Fault))
    effects = Counter(event.job for event in events if isinstance(event, Effect))
    breaches = check(events, outcome, forgets=forgets)
    broken = Counter(breach.rule for breach in breaches)
    return Verdict(
        seconds,
        len(outcome.jobs),
        faults["kill"],
        faults["stop"],
        faults["end"],
        sum(number for kind, number in faults.items() if kind not in PROCESS),
        sum(isinstance(event, Accepted) and event.job.startswith("caller-") for event in events),
        Counter(_named(event) for event in events if isinstance(event, Fault)),
        sum(number > 1 for number in effects.values()),
        broken["nothing_ends_twice"],
        broken["nothing_accepted_is_lost"],
        tuple(breaches),
        tuple(sorted(recoveries(events))),
    )


def _named(fault: Fault) -> str:
    return f"{fault.kind} {fault.node.partition('-')[0]}".strip()


def recoveries(events: Sequence[Event]) -> list[float]:
    """From each kill to the next start of each job that the killed process was running."""
    running: dict[str, dict[str, Started]] = defaultdict(dict)
    lost: dict[str, tuple[float, int]] = {}
    found = []
    for event in events:
        if isinstance(event, Started):
            since = lost.get(event.job)
            if since is not None and event.fence > since[1]:
                found.append(event.at - since[0])
                del lost[event.job]
            running[event.node][event.job] = event
        elif isinstance(event, Finished):
            running[event.node].pop(event.job, None)
        elif isinstance(event, Fault) and event.kind == "kill":
            for job, start in running.pop(event.node, {}).items():
                lost[job] = (event.at, start.fence)
    return found
