"""The settings of a worker."""

from __future__ import annotations

from typing import Final

import msgspec

from ..core.rotation import parse_queues
from .checks import check_above_zero, check_choices, check_finite, check_not_negative, check_port
from .logs import Capture, Level, LogFormat

FEW_THREADS: Final = 10
"""A database that takes 100 connections has room for several such workers."""


class WorkerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How one worker process works. Times are in seconds."""

    app: str = ""
    """the app whose jobs `windlass worker` runs, as in shop:app"""
    queues: tuple[str, ...] = ()
    """queues to serve, with weights as in a:3,b; * serves all  [default: those its tasks name]"""
    strict: bool = False
    """serve a queue only while those named before it are empty"""
    concurrency: int = 100
    """async handlers that run at the same time"""
    threads: int = 0
    """blocking handlers that run at the same time; 0 is 10, or concurrency if that is less"""
    lease: float = 30.0
    """how long a claim holds without renewal"""
    shutdown_timeout: float = 30.0
    """how long running jobs may take to finish after a stop signal"""
    hook_timeout: float = 10.0
    """how long each shutdown hook, and closing each resource, may take"""
    rescue_interval: float = 1.0
    """how often expired leases are looked for"""
    prune_interval: float = 30.0
    """how often finished jobs that were kept long enough are dropped"""
    processes: int = 1
    """worker processes to run; more than one have a supervisor"""
    max_jobs: int = 0
    """jobs after which a process is replaced; 0 is never"""
    max_memory: int = 0
    """resident memory in MiB above which a process is replaced; 0 is never"""
    child_max_jobs: int = 1_000
    """jobs after which a child of process=True is replaced; 0 is never"""
    child_max_memory: int = 0
    """resident memory in MiB above which a child is replaced after its job; 0 is never"""
    child_idle: float = 300.0
    """how long a child without work is kept"""
    child_start: float = 60.0
    """how long a child may take to start and to import the module of a handler"""
    unknown_patience: float = 3600.0
    """how long a job waits for a worker that knows its task before it is dead"""
    log_level: Level = "info"
    """the least that is logged, to stderr, unless the app sets up logging itself"""
    log_format: LogFormat = "auto"
    """how lines are written: auto is pretty on a terminal and plain elsewhere"""
    log_jobs: int = 100
    """log the start and end of each job, up to so many jobs in a second; 0 logs failures alone"""
    log_capture: Capture = "info"
    """store the log lines of handlers from this level on"""
    attempts_keep: float = 604_800.0
    """how long to keep the result and the log of each attempt; 0 keeps none"""
    tracing: bool = False
    """make spans with OpenTelemetry; the app sets up where they go"""
    metrics_port: int = 0
    """port that tells metrics and health over HTTP; 0 is none"""
    metrics_host: str = "127.0.0.1"
    """name or address of that port; 0.0.0.0 in a container, for others to reach it"""

    def __post_init__(self) -> None:
        if self.queues:
            parse_queues(self.queues, strict=self.strict)
        times = ("lease", "rescue_interval", "prune_interval", "child_idle", "child_start")
        patience = ("shutdown_timeout", "hook_timeout", "unknown_patience", "attempts_keep")
        check_above_zero(self, "concurrency", "processes", *times)
        numbers = ("threads", "max_jobs", "max_memory", "child_max_jobs", "child_max_memory")
        check_not_negative(self, "log_jobs", *numbers, *patience)
        check_port(self, "metrics_port")
        check_finite(self, *times, *patience)
        check_choices(self, log_level=Level, log_format=LogFormat, log_capture=Capture)

    @property
    def blocking(self) -> int:
        """How many blocking handlers run at the same time, in threads or in child processes.

        Not as many as async ones: each is likely to have a connection to a database of its own.
        """
        return self.threads or min(FEW_THREADS, self.concurrency)

    @property
    def is_supervised(self) -> bool:
        """Whether `windlass worker` needs a process that keeps the others."""
        return self.processes > 1 or self.max_jobs > 0 or self.max_memory > 0
