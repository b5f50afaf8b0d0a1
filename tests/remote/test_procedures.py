"""Who may call which procedure, and what is refused before anything is written."""

import asyncio
import json
import logging
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from tests.remote.conftest import call, with_key
from tests.remote.samples import EVERY_HOUR, JOB, SAMPLES, WORK
from windlass.core.apikey import Role
from windlass.core.context import MAX_NOTE
from windlass.core.lane import Lane
from windlass.core.model import (
    NEVER,
    Failure,
    JobQuery,
    Lease,
    NewJob,
    Progress,
    Spec,
    Transition,
)
from windlass.core.outcome import failure_from
from windlass.core.states import State
from windlass.errors import (
    Forbidden,
    InvalidOption,
    PayloadTooLarge,
    StoreUnavailable,
    UnknownJob,
    UnknownTask,
)
from windlass.server.caller import ANYONE
from windlass.server.faults import Malformed, NotThere, TooLarge
from windlass.server.procedures import PROCEDURES, perform
from windlass.server.site import Site
from windlass.testing.jobs import new_job

RULES: Mapping[Role | None, set[str]] = {
    None: {"now", "ping"},
    Role.ENQUEUE: {"insert", "signal"},
    Role.READ: {
        *("find", "get", "lanes", "oldest", "queues", "schedules", "workers"),
        *("attempts", "leaders", "risks", "stats"),
    },
    Role.WORK: {
        *("beat", "checkpoint", "claim", "elect", "finish", "leave", "renew", "report"),
        *("abandon", "note_attempts", "tally", "wait"),
    },
    Role.UPKEEP: {"prune", "rescue", "resign", "tick", "unblock"},
    Role.OPERATE: {
        *("cancel", "delete", "direct", "pause", "prioritize", "replay", "reschedule", "resume"),
        *("drop_schedules", "pause_schedules", "put_schedules"),
    },
    Role.ADMIN: {
        *("drop_keys", "keys", "put_keys", "migrate", "restore"),
        *("end_logins", "ended_logins", "had_keys"),
        *("keep_journal", "read_journal", "trim_journal"),
    },
}
UNSAID = {"ended_logins", "had_keys", "read_journal", "trim_journal"}
"""What programs ask for all the time, and tells nobody's secrets."""
AUDITED = RULES[Role.OPERATE] | RULES[Role.ADMIN] - UNSAID
OF_THE_STORE = {
    *RULES[Role.ADMIN],
    *("leaders", "prune", "rescue", "resign", "risks", "tick", "unblock"),
}
"""What is about all queues at once."""

ABOUT_A_QUEUE = {
    *("beat", "claim", "insert", "pause", "put_schedules", "resume", "wait"),
    *("note_attempts", "tally"),
}
"""What names a queue; the rest names jobs, or asks for what there is."""


async def jobs_of(site: Site) -> int:
    return sum(sum(each.counts.values()) for each in await site.store.queues())


@pytest.mark.parametrize("name", sorted(PROCEDURES))
async def test_it_needs_the_role_of_the_table(name: str, site: Site) -> None:
    [needed] = [role for role, names in RULES.items() if name in names]
    for role in Role:
        caller = with_key(role)
        if needed is None or needed in caller.allows:
            await call(site, name, caller, **SAMPLES[name])
        else:
            with pytest.raises(Forbidden, match=f"needs a key with the role {needed}; "):
                await call(site, name, caller, **SAMPLES[name])


@pytest.mark.parametrize("name", sorted(PROCEDURES))
async def test_a_key_that_is_bound_to_queues_does_nothing_outside_of_them(
    name: str, site: Site
) -> None:
    caller = with_key("enqueue", "work", "operate", queues=("other",))._replace(
        allows=frozenset(Role)
    )
    await site.store.insert([NewJob("a", WORK, "mail")])
    await site.store.put_schedules([EVERY_HOUR])
    before = await site.store.get(["a"]), await site.store.schedules(), await site.store.queues()
    if name in OF_THE_STORE | ABOUT_A_QUEUE:
        with pytest.raises(Forbidden, match="is bound to"):
            await call(site, name, caller, **SAMPLES[name])
    elif name not in ("now", "ping"):
        answer = await call(site, name, caller, **SAMPLES[name])
        assert not getattr(answer, "jobs", getattr(answer, "lanes", answer))
    after = await site.store.get(["a"]), await site.store.schedules(), await site.store.queues()
    assert after == before


@pytest.mark.parametrize("name", sorted(PROCEDURES))
async def test_changes_by_people_are_written_down(
    name: str, site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "windlass.audit"):
        await call(site, name, **SAMPLES[name])
    notes = [json.loads(record.getMessage()) for record in caplog.records]
    assert [note["action"] for note in notes] == ([name] if name in AUDITED else [])
    for note in notes:
        assert (note["caller"], note["address"]) == ("anyone", "127.0.0.1")
        assert note["outcome"] == "done"
        assert "payload" not in str(note) and "digest" not in str(note)


async def test_a_change_that_failed_is_written_down_with_the_reason(
    shop: Site, caplog: pytest.LogCaptureFixture
) -> None:
    active = replace(JOB, state=State.ACTIVE)
    with caplog.at_level(logging.INFO, "windlass.audit"), pytest.raises(InvalidOption) as caught:
        await call(shop, "restore", jobs=[active])
    [note] = [json.loads(record.getMessage()) for record in caplog.records]
    assert note["outcome"] == str(caught.value)
    assert note["target"] == {"jobs": ["moved"], "number": 1}


async def test_a_long_list_is_not_written_down_whole(
    site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "windlass.audit"):
        await call(site, "cancel", ids=[f"job-{n}" for n in range(1_000)])
    [note] = [json.loads(record.getMessage()) for record in caplog.records]
    assert len(note["target"]["ids"]) == 20
    assert note["target"]["number"] == 1_000


@pytest.mark.parametrize("name", ["open", "close", "blocking", "__init__", "", "insrt", "_shelf"])
async def test_there_is_nothing_else(name: str, site: Site) -> None:
    with pytest.raises(NotThere):
        await perform(site, ANYONE, name, b"\x80")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\x81",
        b"\x80",
        b"\x90",
        b"not msgpack",
        b"\x81\xa4jobs\xc0",
        b"\x81\xa4jobs\x91\x80",
        b"\x82\xa4jobs\x90\xa4more\x90",
        b"\x81\xa4jobs\x91\x82\xa2id\xa1\xff\xa4spec\x92\xa1t\xc4\x00",
        b"\x81\xa4jobs" + b"\x91" * 100_000,
    ],
)
async def test_what_cannot_be_read_is_told_in_a_sentence(body: bytes, site: Site) -> None:
    with pytest.raises(Malformed, match=r"^The arguments of insert cannot be read: .+\.$"):
        await perform(site, ANYONE, "insert", body)


WRONG: Mapping[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "no id": ({"id": ""}, {}),
    "an id too long": ({"id": "a" * 129}, {}),
    "an id that cannot be shown": ({"id": "a\nb"}, {}),
    "no queue": ({"queue": ""}, {}),
    "a queue with a blank": ({"queue": " mail"}, {}),
    "a zero byte": ({"queue": "a\0b"}, {}),
    "a priority too high": ({"priority": 101}, {}),
    "a priority too low": ({"priority": -1}, {}),
    "a negative delay": ({"delay": -1}, {}),
    "a delay of ages": ({"delay": 2**52}, {}),
    "a moment after the end": ({"due": NEVER + 1}, {}),
    "a number beyond all": ({"due": 2**64 - 1}, {}),
    "a key too long": ({"unique": "k" * 256}, {}),
    "a key that cannot be shown": ({"unique": "\t"}, {}),
    "no task": ({}, {"task": ""}),
    "a task too long": ({}, {"task": "t" * 129}),
    "a content type too long": ({}, {"content_type": "t" * 129}),
    "retries below 0": ({}, {"max_retries": -1}),
    "retries without end": ({}, {"max_retries": 2**31}),
    "a timeout of ages": ({}, {"timeout": 2**52}),
    "a weight of nothing": ({}, {"weight": 0}),
    "a weight too heavy": ({}, {"weight": 1_001}),
    "a group that cannot be shown": ({}, {"group": "\t"}),
    "a parent that cannot be": ({}, {"parents": ("\t",)}),
    "more inputs than parents": ({}, {"inputs": 1}),
    "a lane without a time": ({}, {"lane": Lane("l", starts=1)}),
    "a lane with too many": ({}, {"lane": Lane("l", slots=2**40)}),
    "a lane with too long a name": ({}, {"lane": Lane("l" * 513)}),
    "a workflow that cannot be read": ({}, {"task": "windlass.workflow", "payload": b"\xc1"}),
    "a workflow of another shape": (
        {},
        {
            "task": "windlass.workflow",
            "payload": msgspec.msgpack.encode([1, [1], {"success": b""}]),
        },
    ),
}


@pytest.mark.parametrize("what", WRONG)
async def test_a_job_that_no_producer_could_have_made_is_refused(what: str, site: Site) -> None:
    of_job, of_spec = WRONG[what]
    job = replace(NewJob("a", replace(WORK, **of_spec)), **of_job)
    with pytest.raises(InvalidOption) as caught:
        await call(site, "insert", jobs=[new_job("good"), job])
    assert str(caught.value).endswith(".") and "\n" not in str(caught.value)
    assert await jobs_of(site) == 0


async def test_no_more_jobs_than_a_request_may_have(site: Site) -> None:
    with pytest.raises(TooLarge, match="may have 10 jobs, and this has 11"):
        await call(site, "insert", jobs=[new_job(f"job-{n}") for n in range(11)])
    assert await jobs_of(site) == 0


async def test_no_more_bytes_than_a_payload_may_have(site: Site) -> None:
    with pytest.raises(PayloadTooLarge, match=r"take 1,001 bytes, the limit is 1,000"):
        await call(site, "insert", jobs=[new_job("a", Spec("work", b"x" * 1_001))])
    with pytest.raises(PayloadTooLarge):
        await call(site, "signal", id="a", name="go", value=b"x" * 1_001)
    assert await jobs_of(site) == 0


async def test_an_app_takes_its_own_tasks_only(shop: Site) -> None:
    strange = Spec("unknown", b"")
    with pytest.raises(UnknownTask, match="unknown"):
        await call(shop, "insert", jobs=[new_job("a"), new_job("b", strange)])
    with pytest.raises(UnknownTask, match="unknown"):
        await call(shop, "put_schedules", schedules=[replace(EVERY_HOUR, spec=strange)])
    assert await jobs_of(shop) == 0
    assert await call(shop, "insert", jobs=[new_job("a")])


def workflow(*callbacks: Any, content_type: str = "msgpack") -> NewJob:
    packed = [each if each is None else msgspec.msgpack.encode(each) for each in callbacks]
    module = msgspec.json if content_type == "json" else msgspec.msgpack
    payload = module.encode([1, [0, *packed], {}])
    spec = Spec("windlass.workflow", payload, content_type, workflow="w")
    return new_job("w", spec, queue="mine")


@pytest.mark.parametrize("content_type", ["msgpack", "json"])
async def test_a_workflow_brings_no_job_that_could_not_come_by_itself(
    content_type: str, shop: Site
) -> None:
    good, strange = new_job("w:success", queue="mine"), new_job("w:failure", Spec("unknown", b""))
    with pytest.raises(UnknownTask):
        await call(shop, "insert", jobs=[workflow(good, strange, content_type=content_type)])
    bound = with_key("enqueue", queues=("mine",))
    foreign = new_job("w:success", queue="others")
    with pytest.raises(Forbidden, match="others"):
        await call(shop, "insert", bound, jobs=[workflow(foreign, None, content_type=content_type)])
    await shop.store.insert([new_job("secret", queue="others")])
    curious = new_job("w:success", replace(WORK, parents=("secret",), inputs=1), queue="mine")
    with pytest.raises(UnknownJob, match="secret"):
        await call(shop, "insert", bound, jobs=[workflow(curious, None, content_type=content_type)])
    with pytest.raises(InvalidOption, match="the callback of another"):
        inner = workflow(None, None)
        await call(shop, "insert", jobs=[workflow(inner, None, content_type=content_type)])
    assert await jobs_of(shop) == 1
    assert await call(shop, "insert", bound, jobs=[workflow(good, None, content_type=content_type)])


@pytest.mark.parametrize("how", ["parents", "workflow"])
async def test_a_bound_key_gets_no_result_of_another_queue(how: str, site: Site) -> None:
    bound = with_key("enqueue", queues=("mine",))
    await site.store.insert([new_job("secret", queue="others")])
    spec = replace(WORK, **({"parents": ("secret",), "inputs": 1} if how == "parents" else {}))
    spec = replace(spec, workflow="secret") if how == "workflow" else spec
    child = new_job("child", spec, queue="mine")
    with pytest.raises(UnknownJob, match="secret"):
        await call(site, "insert", bound, jobs=[child])
    with pytest.raises(UnknownJob, match="secret"):
        await call(site, "insert", bound, jobs=[new_job("secret", queue="mine"), child])
    own = [new_job("own", queue="mine"), replace(child, spec=replace(WORK, parents=("own",)))]
    assert await call(site, "insert", bound, jobs=own)


async def test_where_a_job_lies_is_not_for_a_client_to_say(site: Site) -> None:
    """A short cut to another job than the named one would let a key finish what is not its own."""
    seen: list[Transition] = []

    class Noting:
        async def finish(self, transitions: list[Transition]) -> frozenset[str]:
            seen.extend(transitions)
            return frozenset()

        async def insert(self, jobs: list[NewJob]) -> list[Any]:
            assert not any(job.fresh for job in jobs)
            return []

    noting: Any = Noting()
    site = site._replace(store=noting)
    moves = [Transition("a", 1, State.COMPLETED, queue="mail", ref=7)]
    await call(site, "finish", transitions=moves)
    assert seen == [Transition("a", 1, State.COMPLETED)]
    await call(site, "insert", jobs=[replace(new_job("a"), fresh=True)])


async def test_an_attempt_ends_as_attempts_end(site: Site) -> None:
    for state in (State.ACTIVE, State.BLOCKED):
        with pytest.raises(InvalidOption, match=f"state {state}"):
            await call(site, "finish", transitions=[Transition("a", 1, state)])


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("claim", {"queues": {"q": 1}, "limit": -1, "lease": 1, "worker": "w"}),
        ("claim", {"queues": {"q": -1}, "limit": 1, "lease": 1, "worker": "w"}),
        ("claim", {"queues": {"q": 1}, "limit": 1, "lease": 2**63, "worker": "w"}),
        ("claim", {"queues": {"q": 1}, "limit": 1, "lease": 1, "worker": "w" * 513}),
        ("renew", {"leases": [Lease("a", 2**64 - 1)], "lease": 1}),
        ("reschedule", {"ids": ["a"], "delay": -1}),
        ("reschedule", {"ids": ["a"], "due": 2**60}),
        ("finish", {"transitions": [Transition("a", 1, State.RETRY, delay=2**60)]}),
        ("wait", {"queues": ["q"], "timeout": float("nan")}),
        ("elect", {"role": "a\0b", "holder": "h", "ttl": 1}),
        ("pause", {"queue": "\t"}),
        ("signal", {"id": "a", "name": "\t", "value": b""}),
        ("find", {"query": JobQuery(limit=-1)}),
        ("put_schedules", {"schedules": [replace(EVERY_HOUR, text="never")]}),
        ("put_schedules", {"schedules": [replace(EVERY_HOUR, zone="Mars/Base")]}),
        ("put_schedules", {"schedules": [replace(EVERY_HOUR, name="\t")]}),
        ("put_schedules", {"schedules": [replace(EVERY_HOUR, priority=101)]}),
        (
            "put_schedules",
            {"schedules": [replace(EVERY_HOUR, spec=Spec("windlass.workflow", b""))]},
        ),
        ("restore", {"jobs": [replace(JOB, fence=2**64 - 1)]}),
    ],
)
async def test_what_some_engine_could_not_hold_is_refused(
    name: str, arguments: dict[str, Any], site: Site
) -> None:
    with pytest.raises(InvalidOption) as caught:
        await call(site, name, **arguments)
    assert str(caught.value).endswith(".")


async def test_a_wait_ends_when_the_server_is_about_to_stop(site: Site) -> None:
    waiting = asyncio.create_task(call(site, "wait", queues=["mail"], timeout=1e9))
    await asyncio.sleep(0)
    assert not waiting.done()
    site.draining.set()
    async with asyncio.timeout(10):
        await waiting


async def test_a_wait_is_no_longer_than_the_server_allows(site: Site) -> None:
    site = site._replace(settings=replace(site.settings, max_wait=0.01))
    async with asyncio.timeout(10):
        await call(site, "wait", queues=["mail"], timeout=1e9)


async def test_a_wait_that_fails_says_so(site: Site) -> None:
    class Out:
        async def wait(self, queues: list[str], timeout: float) -> None:
            raise StoreUnavailable("The engine did not answer.")

    out: Any = Out()
    with pytest.raises(StoreUnavailable):
        await call(site._replace(store=out), "wait", queues=[], timeout=1)


async def test_what_a_job_reports_is_cut_off(site: Site) -> None:
    await site.store.insert([new_job("a")])
    (job,) = await site.store.claim({"default": 1}, 1, 60_000, "w")
    said = Progress(40, "x" * 100_000)
    await call(site, "report", with_key("work"), reports=[(job.lease, said)])
    kept = (await site.store.get(["a"]))["a"].progress
    assert kept is not None and (kept.percent, kept.message) == (40, "x" * MAX_NOTE)
    error = Failure("Boom", "m" * 100_000, "t" * 100_000, at=7)
    move = Transition(job.id, job.fence, State.DEAD, error=error)
    assert await call(site, "finish", with_key("work"), transitions=[move]) == {"a"}
    told = (await site.store.get(["a"]))["a"].error
    assert told == replace(failure_from(error.kind, error.message, error.traceback), at=7)
    assert len(told.message) < 100_000
