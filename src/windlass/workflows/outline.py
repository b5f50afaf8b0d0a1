"""A workflow as the store has it: its jobs, what they are called, and the job that stands for it.

The jobs of the workflow W are W.1, W.2 and so on, each after its parents; jobs that it adds to
itself go on from there. W is a job as well: it waits for those that nobody else waits for, judges
how they ended, and has the result of the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import msgspec
from msgspec.structs import replace

from ..core.codec import MSGPACK, Codecs, encode_call
from ..core.ids import checked_id
from ..core.model import DAY_MS, Job, NewJob, Spec
from ..core.rebinding import renamed
from ..core.result import JUDGE
from ..core.step import COMPUTED_LATER, Step, checked_step
from ..errors import InvalidArguments, InvalidOption
from .flow import Plan
from .graph import Node

KEYS: Final = "windlass.keys"
"""The task of the job before a step whose keys are computed of what flows into it."""

JUDGE_RETRIES: Final = 20
WAKE: Final = "windlass.workflow.wake"
"""The task of the job that has a workflow looked at again."""

OWN_TASKS: Final = frozenset({JUDGE, KEYS, WAKE})
"""Those of Windlass itself: every worker knows them, and no app has them."""

LONGEST_ID: Final = 100
LEAST_KEEP: Final = DAY_MS
"""The jobs of a workflow are kept for a day at least: others need their results."""

PLAIN: Final = Codecs()

_KEYS: Final = ":keys"
_NOTHING: Final = encode_call(MSGPACK, (), {})

_pack = msgspec.msgpack.Encoder().encode
unpack = msgspec.msgpack.Decoder(NewJob).decode


class Callbacks(NamedTuple):
    """What to enqueue when a workflow has ended, by how it has."""

    success: NewJob | None = None
    failure: NewJob | None = None


class Outline(NamedTuple):
    """The jobs of a workflow, in the order in which they are to be stored."""

    members: list[NewJob]
    numbers: Mapping[Node[Any], int]
    callbacks: Callbacks


def member_id(workflow: str, number: int) -> str:
    return f"{workflow}.{number}"


def keys_id(step: str) -> str:
    """The id of the job that computes the keys of a step."""
    return f"{step}{_KEYS}"


def step_of(keys: str) -> str:
    """The id of the step whose keys a job computes."""
    return keys.removesuffix(_KEYS)


def failure_id(workflow: str) -> str:
    return f"{workflow}:failure"


def checked_workflow_id(value: str) -> str:
    if len(checked_id(value)) > LONGEST_ID:
        raise InvalidOption(f"The id of a workflow has at most {LONGEST_ID} characters.")
    return value


def outline(
    plan: Plan,
    id: str,
    on_success: Step[Any] | None,
    on_failure: Step[Any] | None,
    codecs: Codecs = PLAIN,
    *,
    fresh: bool,
) -> Outline:
    """Give every step its id and its parents."""
    numbers = {node: number for number, node in enumerate(plan.nodes, 1)}
    members = []
    for node, number in numbers.items():
        parents = [member_id(id, numbers[parent]) for parent in node.parents]
        job = member(node.step, id, parents, len(node.inputs), gathers=node.gathers)
        members.append(replace(named(job, member_id(id, number), codecs), fresh=fresh))
    callbacks = Callbacks(_on_success(on_success, id, codecs), _on_failure(on_failure, id, codecs))
    return Outline(members, numbers, callbacks)


def member(
    step: Step[Any], workflow: str, parents: list[str], inputs: int, *, gathers: bool = False
) -> NewJob:
    """The job of a step, with what it waits for; its id is still to come: see `named`."""
    job = step.taking(inputs)
    spec = job.spec
    before = []
    if is_keyed_late(spec):
        before = [keys_id(job.id)]
        # By which it is found to be replaced, once it is known what it is.
        job = replace(job, unique=keys_id(job.id))
    changed = replace(
        spec,
        keep=max(spec.keep, LEAST_KEEP),
        parents=(*parents, *spec.parents, *before),
        inputs=inputs,
        gathers=gathers,
        workflow=workflow,
    )
    return replace(job, spec=changed)


def named(job: NewJob, id: str, codecs: Codecs) -> NewJob:
    """A job of a workflow by its id there."""
    spec = renamed(codecs, job.spec, job.id, id)
    if not is_keyed_late(spec):
        return replace(job, id=id, spec=spec)
    before, after = keys_id(job.id), keys_id(id)
    parents = tuple(after if each == before else each for each in spec.parents)
    return replace(job, id=id, unique=after, spec=replace(spec, parents=parents))


def is_keyed_late(spec: Spec) -> bool:
    """Whether something about a step is still to be computed of what flows into it."""
    return spec.headers is not None and COMPUTED_LATER in spec.headers


def with_keys(jobs: Iterable[NewJob]) -> Iterator[NewJob]:
    """Jobs of a workflow as they are stored: before some of them one that computes their keys."""
    for job in jobs:
        if is_keyed_late(job.spec):
            yield keys_job(job)
        yield job


def keys_job(job: NewJob | Job) -> NewJob:
    """The job that computes the keys of a step: it runs when the step could, and before it."""
    spec, id = job.spec, keys_id(job.id)
    own = Spec(
        KEYS,
        _NOTHING,
        max_retries=JUDGE_RETRIES,
        keep=spec.keep,
        parents=tuple(each for each in spec.parents if each != id),
        runs_anyway=spec.runs_anyway,
        workflow=spec.workflow,
    )
    return NewJob(id, own, job.queue, job.priority)


def _on_success(step: Step[Any] | None, id: str, codecs: Codecs) -> NewJob | None:
    if step is None:
        return None
    checked_step(step, "on_success")
    job = member(step, id, [id], _flowing(step))
    return replace(named(job, f"{id}:success", codecs), fresh=False)


def _on_failure(step: Step[Any] | None, id: str, codecs: Codecs) -> NewJob | None:
    if step is None:
        return None
    checked_step(step, "on_failure").check(0)
    job = replace(named(member(step, id, [id], 0), failure_id(id), codecs), fresh=False)
    return replace(job, spec=replace(job.spec, runs_anyway=True))


def _flowing(step: Step[Any]) -> int:
    """1 if the step can take a result, else 0 if it can do without."""
    try:
        step.check(1)
    except InvalidArguments:
        step.check(0)
        return 0
    return 1


def judge(
    plan: Plan, made: Outline, id: str, encode: Callable[..., bytes], content_type: str
) -> NewJob:
    """The job that stands for the workflow. It runs where what it waits for runs."""
    last = dict.fromkeys([*plan.ends.nodes, *plan.leaves])
    jobs = [made.members[made.numbers[node] - 1] for node in last]
    success, failure = (None if job is None else _pack(job) for job in made.callbacks)
    spec = Spec(
        JUDGE,
        encode(len(made.members), success, failure),
        content_type,
        max_retries=JUDGE_RETRIES,
        keep=max(job.spec.keep for job in jobs),
        parents=tuple(job.id for job in jobs),
        runs_anyway=True,
        inputs=len(plan.ends.nodes),
        gathers=plan.ends.gathers,
        workflow=id,
    )
    return NewJob(id, spec, jobs[0].queue, jobs[0].priority, fresh=jobs[0].fresh)
