"""A call of every method of the contract, with arguments that it takes."""

from collections.abc import Mapping
from typing import Any

from windlass.core.apikey import new_key
from windlass.core.attempts import AttemptRecord, LogLine
from windlass.core.model import Entry, Job, JobQuery, Lease, NewJob, Progress, Spec, Transition
from windlass.core.schedule import Schedule
from windlass.core.states import State
from windlass.core.stats import FINE, Tally
from windlass.core.workers import WorkerInfo

WORK = Spec("work", b"\x93\x01\x90\x80")
JOB = Job("moved", WORK, "mail", State.PENDING, 50, created_at=1, due=1)
LEASE = Lease("a", 1)
EVERY_HOUR = Schedule("hourly", "0 * * * *", WORK, queue="mail")
WORKER = WorkerInfo("w", "host", 1, ("mail",), 1, 1)
ATTEMPT = AttemptRecord("a", "mail", 1, 1, "w", 1, lines=(LogLine(1, "INFO", "work", "text"),))
KEY = new_key(["read"]).key

SAMPLES: Mapping[str, Mapping[str, Any]] = {
    "abandon": {"worker": "w"},
    "attempts": {"ids": ["a"]},
    "beat": {"worker": WORKER, "ttl": 1_000},
    "cancel": {"ids": ["a"]},
    "checkpoint": {"states": [(LEASE, b"state")]},
    "claim": {"queues": {"mail": 1}, "limit": 1, "lease": 1_000, "worker": "w"},
    "delete": {"ids": ["a"]},
    "direct": {"workers": ["w"], "order": "quiet"},
    "drop_keys": {"ids": ["unknown"]},
    "drop_schedules": {"names": ["hourly"]},
    "end_logins": {"logins": {"key:1": 2**50}},
    "ended_logins": {},
    "elect": {"role": "upkeep", "holder": "h", "ttl": 1_000},
    "find": {"query": JobQuery(queue="mail")},
    "finish": {"transitions": [Transition("a", 1, State.COMPLETED)]},
    "get": {"ids": ["a"]},
    "insert": {"jobs": [NewJob("a", WORK, "mail")]},
    "had_keys": {},
    "leaders": {},
    "keep_journal": {"on": False},
    "keys": {},
    "lanes": {"limit": 10},
    "risks": {},
    "leave": {"worker": "w"},
    "migrate": {},
    "note_attempts": {"records": [ATTEMPT], "keep": 1_000},
    "now": {},
    "oldest": {"queues": ["mail"]},
    "pause": {"queue": "mail"},
    "pause_schedules": {"names": ["hourly"], "paused": True},
    "ping": {},
    "prioritize": {"ids": ["a"], "priority": 60},
    "prune": {"limit": 10},
    "put_keys": {"keys": [KEY]},
    "put_schedules": {"schedules": [EVERY_HOUR]},
    "queues": {},
    "read_journal": {"limit": 10},
    "renew": {"leases": [LEASE], "lease": 1_000},
    "replay": {"ids": ["a"]},
    "report": {"reports": [(LEASE, Progress(50))]},
    "reschedule": {"ids": ["a"]},
    "rescue": {"limit": 1, "lease": 1_000, "worker": "w"},
    "resign": {"role": "upkeep", "holder": "h"},
    "restore": {"jobs": [JOB]},
    "resume": {"queue": "mail"},
    "schedules": {},
    "signal": {"id": "a", "name": "go", "value": b"\x92\x01\xc0"},
    "stats": {"queues": ["mail"], "step": FINE, "since": 0},
    "tally": {"worker": "w", "number": 1, "tallies": [Tally("mail", {"completed": 1})]},
    "tick": {"schedule": EVERY_HOUR, "tick": 1},
    "trim_journal": {"entries": [Entry("1", 1, JOB)]},
    "unblock": {"limit": 10},
    "wait": {"queues": ["mail"], "timeout": 0.0},
    "workers": {},
}
