"""`windlass job`: one job, with what went in and what came out."""

import json
import logging
import re

import pytest

from tests.cli.conftest import Call
from windlass import Fatal, Limit, Windlass, current_context
from windlass.admin.record import full_record
from windlass.cli.loop import run
from windlass.core.codec import MSGPACK, Codecs, Msgpack
from windlass.core.model import Progress
from windlass.stores.contract import Store
from windlass.testing.jobs import claim_one, put
from windlass.testing.work import work


class Shouting(Msgpack):
    """A codec that only the app knows."""

    name = "shouting"  # type: ignore[misc]


def finished(app: Windlass) -> None:
    """Run all jobs of an app."""

    async def drain() -> None:
        await work(app)
        await app.aclose()

    run(drain())
    app.close()


def lines(text: str) -> dict[str, str]:
    """The names and the texts of the facts, up to the traceback."""
    facts = text.partition("\n\n")[0].splitlines()
    return {line[:10].strip(): line[11:] for line in facts}


@pytest.fixture
def results(app: Windlass) -> None:
    """A job that completed and one that died."""

    @app.task(timeout=1.5)
    def weigh(item: str, *, grams: int) -> dict[str, object]:
        return {item: grams, "raw": b"\x00\xff"}

    @app.task
    def burst() -> None:
        raise Fatal("\x1b[31mtoo [bold]much")

    limit = Limit(concurrency=2, key="tea")
    task = weigh.using(id="good", unique="k", labels={"for": "Ada"}, limit=limit, group="g")
    task.enqueue("tea", grams=5)
    burst.using(id="bad").enqueue()
    finished(app)


@pytest.mark.usefixtures("results")
def test_a_completed_job_shows_its_call_and_its_result(call: Call) -> None:
    facts = lines(call("job", "good").stdout)
    assert facts["state"] == "completed"
    assert facts["call"] == 'weigh("tea", grams=5)'
    assert facts["result"] == '{"tea":5,"raw":"AP8="}'
    assert facts["attempt"] == "1 of at most 4"
    assert (facts["timeout"], facts["unique"], facts["labels"]) == ("1.5 s", "k", "for=Ada")
    assert (facts["limit"], facts["group"]) == ("weigh:tea", "g (weight 1)")
    for name in ("created", "due", "started", "finished"):
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:]+\.\d{3}Z \((now|\d+ s ago)\)", facts[name])
    assert "error" not in facts


@pytest.mark.usefixtures("results")
def test_a_dead_job_shows_its_error_and_traceback_without_control_codes(call: Call) -> None:
    output = call("job", "bad").stdout
    facts = lines(output)
    assert (facts["state"], facts["call"]) == ("dead", "burst()")
    assert facts["error"] == r"Fatal: \x1b[31mtoo [bold]much"
    assert "Traceback (most recent call last):" in output
    assert "\x1b" not in output


@pytest.mark.usefixtures("results")
def test_a_job_as_json_has_the_fields_of_a_listing_and_its_contents(call: Call) -> None:
    listed = {job["id"]: job for job in json.loads(call("jobs", "--json").stdout)}
    shown = json.loads(call("job", "good", "--json").stdout)
    assert shown.items() > listed["good"].items()
    assert {name: shown[name] for name in shown.keys() - listed["good"].keys()} == {
        "headers": {},
        "args": ["tea"],
        "kwargs": {"grams": 5},
        "result": {"tea": 5, "raw": "AP8="},
        "unreadable": None,
    }
    error = json.loads(call("job", "bad", "--json").stdout)["error"]
    assert error.keys() == {"kind", "message", "traceback"}
    assert (error["kind"], error["message"]) == ("Fatal", "\x1b[31mtoo [bold]much")


def test_a_running_job_shows_how_far_it_is(call: Call, app: Windlass) -> None:
    async def begin(store: Store) -> None:
        await put(store, "half")
        job = await claim_one(store)
        await store.report([(job.lease, Progress(50.5, "page \x1b 3"))])

    app.client.block(begin, "", "")
    app.close()
    assert lines(call("job", "half").stdout)["progress"] == r"50.5 % page \x1b 3"
    (listed,) = json.loads(call("jobs", "--json").stdout)
    assert listed["progress"] == {"percent": 50.5, "message": "page \x1b 3"}


def test_values_that_json_does_not_have_are_shown_as_python_does(call: Call, app: Windlass) -> None:
    @app.task
    def odd(*values: object) -> None: ...

    odd.using(id="odd").enqueue(2**70, float("nan"), {None: 1}, None)
    app.close()
    shown = json.loads(call("job", "odd", "--json").stdout)
    assert shown["args"] == [2**70, "nan", "{None: 1}", None]
    assert lines(call("job", "odd").stdout)["call"] == f'odd({2**70}, "nan", "{{None: 1}}", null)'


def test_arguments_of_an_unknown_codec_are_not_shown_and_the_rest_is(call: Call, url: str) -> None:
    app = Windlass(url, codec=Shouting())

    @app.task
    def hush() -> None: ...

    hush.using(id="secret").enqueue()
    stored = app.client.block(lambda store: store.get(["secret"]), "", "")["secret"]
    app.close()
    facts = lines(call("job", "secret").stdout)
    assert (facts["task"], facts["state"]) == ("hush", "pending")
    assert "the content type 'shouting', which this process cannot read" in facts["unreadable"]
    assert "call" not in facts
    fields = full_record(stored, Codecs(MSGPACK, Shouting()))
    assert (bytes(fields.result), fields.args, fields.unreadable) == (b"null", [], None)


@pytest.fixture
def logged(app: Windlass) -> None:
    """A job that died in its second attempt, and one that had nothing to say."""

    @app.task(max_retries=1, backoff=0)
    def burst() -> None:
        logging.getLogger("shop").warning("on the \x1b[2J brink\nof it")
        try:
            raise OSError("the disk is full")
        except OSError as error:
            raise Fatal("too much") if current_context().attempt == 2 else ValueError() from error

    @app.task
    def quiet() -> None: ...

    burst.using(id="loud").enqueue()
    quiet.using(id="quiet").enqueue()
    finished(app)


@pytest.mark.usefixtures("logged")
def test_logs_shows_what_each_attempt_came_to_and_said(call: Call) -> None:
    output = call("job", "loud", "--logs").stdout
    head, first, second = output.split("\n\nattempt ")
    assert lines(head)["state"] == "dead"
    assert re.match(r"1, fence \d+: retry after [\d.]+ s, begun 20\S+Z by \S+\n", first)
    assert re.search(r"^  20\S+Z warning shop: on the \\x1b\[2J brink\n    of it$", first, re.M)
    assert "OSError: the disk is full" in first and first.rstrip().endswith("ValueError")
    assert re.match(r"2, fence \d+: dead after ", second)
    assert second.rstrip().endswith("Fatal: too much")
    quiet = call("job", "quiet", "--logs").stdout
    assert "Nothing is kept of its attempts: none failed or logged" in quiet


@pytest.mark.usefixtures("logged")
def test_logs_go_into_the_json(call: Call) -> None:
    fields = json.loads(call("job", "loud", "--logs", "--json").stdout)
    first, second = fields["attempts"]
    assert (fields["id"], first["attempt"], first["state"]) == ("loud", 1, "retry")
    assert (second["error"]["kind"], second["error"]["message"]) == ("Fatal", "too much")
    assert "OSError: the disk is full" in second["error"]["traceback"]
    (line,) = first["lines"]
    assert (line["level"], line["logger"]) == ("warning", "shop")
    assert line["text"] == "on the \x1b[2J brink\nof it"
    assert "attempts" not in json.loads(call("job", "loud", "--json").stdout)
