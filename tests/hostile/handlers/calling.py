"""Callers who hand over what cannot be: arguments, options, ids, keys, and bytes of their own.

What is refused is refused where it is called, and nothing is stored. What is taken must come to
what its row says.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import msgspec

from tests.hostile.handlers.case import DEAD, DONE
from windlass import Windlass
from windlass.core.ids import new_id
from windlass.core.limit import Limit
from windlass.core.model import NewJob, Spec
from windlass.core.states import State

DEEP = 10_000
LONG = "x" * 10_000_000
WAITS = State.SCHEDULED


class Call(NamedTuple):
    """One row. What `make` gives is enqueued: an argument, several as a tuple, options, or a job as
    the store has it. `state` is None if it is refused."""

    what: str
    state: State | None
    kind: str
    text: str
    make: Callable[[], Any]
    task: str = "takes"

    @property
    def error(self) -> str:
        return f"{self.kind}: {self.text}" if self.text else self.kind


class Options(dict[str, Any]):
    """Options of a job, as `using` takes them."""


def nested() -> list[Any]:
    value: list[Any] = []
    for _ in range(DEEP):
        value = [value]
    return value


def cyclic() -> dict[str, Any]:
    value: dict[str, Any] = {}
    value["self"] = value
    return value


def refused(what: str, kind: str, text: str, make: Callable[[], Any]) -> Call:
    return Call(what, None, kind, text, make)


def taken(what: str, make: Callable[[], Any]) -> Call:
    return Call(what, DONE, "", "", make)


def option(name: str, words: str, value: Any, text: str) -> Call:
    what = f"`{name}` {words}"
    return refused(what, "InvalidOption", text, lambda: Options({name: value}))


def record(what: str, text: str, payload: bytes, content_type: str = "msgpack") -> Call:
    """Bytes that are inserted through the store, as another program might."""
    spec = Spec("takes", payload, content_type, max_retries=1)
    return Call(what, DEAD, "CorruptRecord", text, lambda: NewJob(new_id(), spec))


def of_task(name: str) -> NewJob:
    return NewJob(new_id(), Spec(name, msgspec.msgpack.encode((1, [], {})), "msgpack"))


UNENCODABLE = "UnencodableValue"
TEXT = "is a text of 1 to"
PRINTABLE = "printable characters only"
WHOLE = "priority is a whole number from 0 to 100"
FINITE = "must be a finite number of seconds, 0 or more"
ZONE = "needs a datetime with a time zone"
NAIVE = datetime(2030, 1, 1)
LAST = datetime.max.replace(tzinfo=UTC)

ARGUMENTS = [
    refused("an object", UNENCODABLE, "type `object` cannot be encoded", object),
    refused("a function", UNENCODABLE, "cannot be encoded", lambda: print),
    refused("a text that is no UTF-8", UNENCODABLE, "lone surrogate", lambda: "caf\udce9"),
    refused("a list nested 10,000 levels deep", UNENCODABLE, "nested too deeply", nested),
    refused("a dict that contains itself", UNENCODABLE, "contains itself", cyclic),
    refused("a text of 10 MB", "PayloadTooLarge", "store the data elsewhere", lambda: LONG),
    refused("of another type than annotated", "InvalidArguments", "number", lambda: "two")._replace(
        task="counts"
    ),
    refused("missing", "InvalidArguments", "missing a required argument", lambda: ()),
    refused("one too many", "InvalidArguments", "too many", lambda: (1, 2)),
    taken("`nan`", lambda: float("nan")),
    taken("`inf`", lambda: float("inf")),
    taken("a number of 5,000 digits", lambda: 10**5_000),
    taken("a text with NUL", lambda: "a\0b"),
    taken("emoji", lambda: "🪢" * 1_000),
    taken("nested 400 levels deep", lambda: __import__("json").loads("[" * 400 + "]" * 400)),
]

OPTIONS = [
    option("id", "empty", "", TEXT),
    option("id", "of 10 MB", LONG, TEXT),
    option("id", "with NUL", "a\0b", PRINTABLE),
    option("id", "that is no UTF-8", "caf\udce9", PRINTABLE),
    option("id", "that is no text", 5, TEXT),
    taken("`id` with emoji", lambda: Options(id=f"🪢{new_id()}")),
    option("queue", "empty", "", TEXT),
    option("queue", "of 10 MB", LONG, TEXT),
    option("queue", "with NUL", "a\0b", PRINTABLE),
    option("queue", "that is no UTF-8", "caf\udce9", PRINTABLE),
    option("labels", "that are no UTF-8", {"file": "caf\udce9"}, "UTF-8"),
    option("labels", "that are no texts", {"n": 5}, "a mapping of texts to texts"),
    option("labels", "that are no mapping", "abc", "a mapping of texts to texts"),
    taken("`labels` that are empty", lambda: Options(labels={"": ""})),
    taken("`labels` with emoji and NUL", lambda: Options(labels={"🪢": "a\0b"})),
    option("unique", "empty", "", TEXT),
    option("unique", "of 10 MB", LONG, TEXT),
    option("unique", "with NUL", "a\0b", PRINTABLE),
    option("unique", "that is no UTF-8", "caf\udce9", PRINTABLE),
    taken("`unique` with emoji", lambda: Options(unique=f"🪢{new_id()}")),
    option("unique_for", "without a key", 60, "says something about unique"),
    option("priority", "101", 101, WHOLE),
    option("priority", "-1", -1, WHOLE),
    option("priority", "50.5", 50.5, WHOLE),
    option("priority", "`True`", True, WHOLE),
    option("priority", "`nan`", float("nan"), WHOLE),
    option("priority", "of another word", "urgent", WHOLE),
    option("priority", "of 5,000 digits", 10**5_000, WHOLE),
    option("delay", "`nan`", float("nan"), FINITE),
    option("delay", "`1e400`, which is `inf`", 1e400, FINITE),
    option("delay", "-1", -1, FINITE),
    option("delay", "1e17", 1e17, "at most 100 years"),
    option("delay", "of 5,000 digits", 10**5_000, "delay"),
    option("delay", "that is a text", "5", "is a number of seconds or a timedelta"),
    option("delay", "`timedelta.max`", timedelta.max, "at most 100 years"),
    option("at", "without a time zone", NAIVE, ZONE),
    option("at", "`datetime.max`", LAST, "at most the end of the year 9998"),
    option("at", "that is a number", 5, "takes a datetime with a time zone"),
    taken("`at` in the year 1", lambda: Options(at=datetime.min.replace(tzinfo=UTC))),
    option("expires_at", "without a time zone", NAIVE, ZONE),
    option("expires_in", "0", 0, "must be above 0"),
    option("timeout", "0", 0, "must be above 0"),
    option("timeout", "`nan`", float("nan"), FINITE),
    option("keep", "-1", -1, FINITE),
    option("max_retries", "-1", -1, "max_retries is a whole number"),
    option("max_retries", "of 5,000 digits", 10**5_000, "max_retries is a whole number"),
    option("weight", "0", 0, "weight is a whole number from 1"),
    option("limit", "that is a number", 5, "limit takes a Limit"),
    refused(
        "`Limit(rate=…)` of a text that is no rate",
        "InvalidOption",
        "rate is a text as 10/s",
        lambda: Options(limit=Limit(rate="often")),
    ),
    option("depends_on", "a number", 5, "given by its handle or its id"),
    refused(
        "`depends_on` itself",
        "InvalidOption",
        "cannot depend on itself",
        lambda: Options(id="own", depends_on="own"),
    ),
    refused(
        "`depends_on` an unknown job",
        "UnknownJob",
        "nobody",
        lambda: Options(depends_on="nobody"),
    ),
    refused(
        "`delay` and `at`",
        "InvalidOption",
        "Give delay or at, not both.",
        lambda: Options(delay=1, at=NAIVE.replace(tzinfo=UTC)),
    ),
    option("delays", "instead of `delay`", 5, "did you mean delay?"),
]

RECORDS = [
    record("no bytes", "not valid MessagePack", b""),
    record("bytes that are no MessagePack", "not valid MessagePack", b"\xc1"),
    record("bytes of something else", "does not have the shape", msgspec.msgpack.encode("x")),
    record("a later version", "version 99", msgspec.msgpack.encode((99, [], {}))),
    record("lists nested 100,000 levels deep", "not valid MessagePack", b"\x91" * 100_000),
    record("bytes in another codec", "cannot read", b"\x80", "application/x-pickle"),
    Call("a task that nobody has", WAITS, "UnknownTask", "", lambda: of_task("nobody")),
]


class Act(NamedTuple):
    """A call of an app that is refused; it has the tasks `takes` and `counts`."""

    what: str
    kind: str
    text: str
    act: Callable[[Windlass], object]
    state: None = None


def add(text: Any, name: Any = "odd", **options: Any) -> Callable[[Windlass], object]:
    return lambda app: app.schedules.add(name, text, app.tasks["takes"].call(1), **options)


def in_a_circle(app: Windlass) -> object:
    takes = app.tasks["takes"]
    return app.enqueue_many(
        [takes.using(id="a", depends_on="b").call(1), takes.using(id="b", depends_on="a").call(1)]
    )


NO_SCHEDULE = "no cron expression"
WRONG: Any = 5

ACTS = [
    Act("`schedules.add` with an empty text", "InvalidOption", NO_SCHEDULE, add("")),
    Act("`schedules.add` with a text of 10 MB", "InvalidOption", "", add(LONG)),
    Act("`schedules.add` with NUL in the text", "InvalidOption", NO_SCHEDULE, add("\0 * * * *")),
    Act("`schedules.add` for 31 February", "InvalidOption", "", add("0 0 31 2 *")),
    Act("`schedules.add` for `@every 0s`", "InvalidOption", "", add("@every 0s")),
    Act(
        "`schedules.add` for `@every` of 5,000 digits",
        "InvalidOption",
        "",
        add("@every " + "9" * 5_000 + "s"),
    ),
    Act(
        "`schedules.add` in a zone that is not there",
        "InvalidOption",
        "no time zone",
        add("@daily", timezone="Mars"),
    ),
    Act("`schedules.add` with an empty name", "InvalidOption", "", add("@daily", "")),
    Act(
        "`schedules.add` with a name that is no UTF-8",
        "InvalidOption",
        "",
        add("@daily", "caf\udce9"),
    ),
    Act("`job` with an empty id", "InvalidOption", TEXT, lambda app: app.job("")),
    Act(
        "`job` with a number",
        "InvalidOption",
        "by its handle or its id",
        lambda app: app.job(WRONG),
    ),
    Act(
        "`get` of a job that is not there",
        "UnknownJob",
        "nobody",
        lambda app: app.job("nobody").get(),
    ),
    Act(
        "`cancel` of a job that is not there",
        "UnknownJob",
        "nobody",
        lambda app: app.job("nobody").cancel(),
    ),
    Act("`signal` with an empty name", "InvalidOption", TEXT, lambda app: app.signal("x", "")),
    Act(
        "`signal` with a name that is no UTF-8",
        "InvalidOption",
        PRINTABLE,
        lambda app: app.signal("x", "caf\udce9"),
    ),
    Act(
        "`enqueue_many` with something else than calls",
        "InvalidOption",
        "takes calls of tasks",
        lambda app: app.enqueue_many([WRONG]),
    ),
    Act("`enqueue_many` of jobs that wait for each other", "InvalidOption", "", in_a_circle),
    Act(
        "`reschedule` by `nan` seconds",
        "InvalidOption",
        FINITE,
        lambda app: app.job("x").reschedule(float("nan")),
    ),
    Act("`prioritize` to 101", "InvalidOption", WHOLE, lambda app: app.job("x").prioritize(101)),
    Act(
        "`result` within `nan` seconds",
        "InvalidOption",
        "",
        lambda app: app.job("x").result(timeout=float("nan")),
    ),
]
