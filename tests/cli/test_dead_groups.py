"""`windlass dead`: groups of what killed jobs, whole workflows, and replays with changes."""

import asyncio
import json

import pytest

from tests.cli.conftest import Call
from windlass import Windlass, chain
from windlass.core.states import State
from windlass.testing.work import work


@pytest.fixture
def shop(app: Windlass) -> Windlass:
    @app.task(queue="mail", max_retries=0)
    async def send(order: int, who: str = "ada") -> int:
        raise ValueError(f"no stamp for order {order}")

    @app.task(queue="mail", max_retries=0)
    async def sweep() -> None:
        raise OSError("no broom")

    return app


async def fill(shop: Windlass) -> None:
    for order in range(3):
        await shop.tasks["send"].using(id=f"order-{order}").aenqueue(order)
    await shop.tasks["sweep"].using(id="sweep").aenqueue()
    await work(shop)
    await shop.aclose()


@pytest.fixture
def filled(shop: Windlass) -> Windlass:
    asyncio.run(fill(shop))
    return shop


def state(call: Call, id: str) -> str:
    return str(json.loads(call("job", id, "--json").stdout)["state"])


@pytest.mark.usefixtures("filled")
def test_groups_are_what_killed_them_the_largest_first(call: Call) -> None:
    head, first, second = call("dead", "groups").stdout.splitlines()
    assert head.split() == ["fingerprint", "jobs", "task", "last", "error"]
    assert "ValueError: no stamp for order …" in first
    assert first.split()[1:3] == ["3", "send"]
    assert second.split()[1:3] == ["1", "sweep"]
    told = json.loads(call("dead", "groups", "--task", "sweep", "--json").stdout)
    assert [group["sample"] for group in told["groups"]] == ["sweep"]
    assert told["complete"]


@pytest.mark.usefixtures("filled")
def test_a_group_is_replayed_or_deleted_by_its_fingerprint(call: Call) -> None:
    groups = json.loads(call("dead", "groups", "--json").stdout)["groups"]
    send, sweep = (group["fingerprint"] for group in groups)
    assert call("dead", "replay", "--fingerprint", send).stdout == "Replayed 3 jobs.\n"
    assert (state(call, "order-1"), state(call, "sweep")) == ("pending", "dead")
    again = call("dead", "replay", "--all", "--fingerprint", send)
    assert (again.exit_code, again.stderr) == (
        3,
        f"windlass: Nothing was replayed: there are no dead jobs of the group {send}.\n",
    )
    assert call("dead", "delete", "--fingerprint", sweep, "-y").stdout == "Deleted 1 job.\n"


@pytest.mark.usefixtures("filled")
def test_dead_jobs_are_printed_with_their_arguments(call: Call) -> None:
    lines = call("dead", "export", "--task", "send").stdout.splitlines()
    assert sorted(json.loads(line)["args"][0] for line in lines) == [0, 1, 2]


@pytest.mark.usefixtures("filled")
def test_one_job_is_replayed_with_changes(call: Call) -> None:
    done = call(
        "dead", "replay", "order-1", "--args", "[7]", "--kwargs", '{"who": "bob"}', "-q", "fast"
    )
    assert done.stdout.startswith("Replayed it as key-")
    id = done.stdout.split()[-1].rstrip(".")
    job = json.loads(call("job", id, "--json").stdout)
    assert (job["args"], job["kwargs"], job["queue"]) == ([7], {"who": "bob"}, "fast")
    assert call("job", "order-1").exit_code == 3
    told = json.loads(call("dead", "replay", "order-2", "--priority", "high", "--json").stdout)
    assert told["count"] == 1


@pytest.mark.usefixtures("filled")
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["order-1", "order-2", "--args", "[1]"], "goes with the id of one job"),
        (["--all", "--args", "[1]"], "goes with the id of one job"),
        (["order-1", "--args", "{}"], "is not an array of JSON"),
        (["order-1", "--kwargs", "[1"], "is not JSON"),
        (["order-1", "--fingerprint", "f"], "go with --all, not with ids"),
    ],
)
def test_what_cannot_be_is_told(call: Call, words: list[str], sentence: str) -> None:
    refused = call("dead", "replay", *words)
    assert refused.exit_code == 2
    assert sentence in refused.stderr
    assert state(call, "order-1") == "dead"


def test_a_whole_workflow_comes_back(shop: Windlass, call: Call) -> None:
    async def die() -> None:
        steps = chain(shop.tasks["send"].step(1), shop.tasks["send"].step())
        await shop.aenqueue_workflow(steps, id="w")
        await work(shop)
        await shop.aclose()

    asyncio.run(die())
    assert state(call, "w.2") == State.CANCELLED
    assert call("dead", "replay", "--all").stdout == "Replayed 2 jobs.\n"
    assert [state(call, id) for id in ("w.1", "w.2", "w")] == ["pending", "blocked", "blocked"]
    asyncio.run(work_again(shop))
    assert call("dead", "replay", "w.1").exit_code == 0
    assert state(call, "w") == "blocked"
    refused = call("dead", "replay", "w.1", "--args", "[2]")
    assert (refused.exit_code, "cannot be replayed" in refused.stderr) == (3, True)


async def work_again(shop: Windlass) -> None:
    await work(shop)
    await shop.aclose()
