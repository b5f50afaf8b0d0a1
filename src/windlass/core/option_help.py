"""What each option does, in a line: for `help(app.task)` and the like."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from inspect import cleandoc
from typing import Final

HELP: Final[Mapping[str, str]] = {
    "name": "what the task is called in the store; by default the name of the function",
    "context": "True: the first parameter is a Context, which the worker fills in",
    "batch": "a Batch(…): the function takes a list, of which each item is a job",
    "process": "True: a def runs in a child process",
    "validate": "False: the types of arguments are left to the worker to check",
    "backoff": "how long to wait before a retry: seconds, a list, a policy or a function",
    "jitter": "the largest part of a wait that chance may take off, 0 to 1; by default 0.5",
    "retry_on": "the errors that are worth a retry: a class or a tuple; by default all",
    "fatal_on": "the errors that end the job at once; wins over retry_on",
    "queue": "the line that the job waits in; by default 'default'",
    "priority": "0 to 100, higher first, or 'low', 'default', 'high'; by default 50",
    "max_retries": "how often to run it again after the first run has failed; by default 3",
    "timeout": "how long one attempt may take; by default there is no limit",
    "keep": "how long the job is kept when it is completed or cancelled; by default a day",
    "expires_in": "how long after it was enqueued an attempt may still be started",
    "unique": "a key that one job can hold, True for one of the arguments, or a function",
    "unique_for": "how long the job holds its key: 'finished', 'started' or a time",
    "on_conflict": "if another has the key: 'reject', 'replace', 'last' or 'raise'",
    "limit": "a Limit(…): how many run at a time, or start in what time, on all workers",
    "sequence": "a key or a function: jobs of one key run one at a time, in order",
    "group": "a key or a function: groups of a queue take turns",
    "weight": "how many turns the group has compared with others; by default 1",
    "id": "an id of your own; enqueuing it again changes nothing",
    "delay": "how long to wait before the job may run",
    "at": "the moment at which it may run: a datetime with a time zone",
    "labels": "texts by name, kept with the job",
    "expires_at": "the moment after which the job is cancelled instead of started",
    "depends_on": "the jobs that it waits for: a handle, an id, or several of them",
    "orphaned": "if one of these fails: 'cancel', the default, or 'run'",
    "connection": "a connection of yours: the job exists if its transaction commits",
    "timezone": "the time zone of the expression; by default UTC",
    "missed": "what becomes of late ticks: 'skip', the default, 'last' or 'all'",
    "overlap": "while the job of the last tick is not finished: 'allow', 'skip' or 'queue'",
    "args": "the arguments of each job",
    "kwargs": "the arguments of each job by name",
}


def with_options(doc: str | None, names: Iterable[str]) -> str | None:
    """A docstring with the options behind it. Without docstrings (`python -OO`) there is none."""
    if doc is None:
        return None
    chosen, width = {*names}, max(map(len, HELP))
    lines = [f"    {name:{width}}  {text}" for name, text in HELP.items() if name in chosen]
    return "\n".join([cleandoc(doc), "", "Options, by name; times are seconds:", "", *lines])
