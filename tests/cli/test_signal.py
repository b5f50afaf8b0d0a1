"""`windlass signal`, and how a job that waits for one is shown."""

import json

import pytest

from tests.cli.conftest import Call
from windlass import Context, Windlass
from windlass.cli.loop import run
from windlass.testing.work import work


@pytest.fixture
def parked(app: Windlass) -> Windlass:
    """A job that is parked for an hour, and one for as long as it takes."""

    @app.task(context=True)
    async def ask(ctx: Context, timeout: float | None) -> object:
        return await ctx.await_for("approved", timeout)

    ask.using(id="hour").enqueue(3600)
    ask.using(id="ever").enqueue(None)
    go(app)
    return app


def go(app: Windlass) -> None:
    async def main() -> None:
        await work(app)
        await app.aclose()

    run(main())
    app.close()


def test_a_signal_lets_the_job_go_on(call: Call, parked: Windlass) -> None:
    result = call("signal", "hour", "approved", '{"by": "Ada"}')
    assert (result.exit_code, result.stdout) == (0, "Sent approved to job hour.\n")
    shown = json.loads(call("job", "hour", "--json").stdout)
    assert (shown["state"], shown["signals"], shown["awaits"]) == ("pending", ["approved"], None)
    assert "signals    approved" in call("job", "hour").stdout
    go(parked)
    assert json.loads(call("job", "hour", "--json").stdout)["result"] == {"by": "Ada"}


@pytest.mark.usefixtures("parked")
def test_programs_get_what_was_sent(call: Call) -> None:
    result = call("signal", "ever", "approved", "yes", "--json")
    assert (result.exit_code, json.loads(result.stdout)) == (
        0,
        {"id": "ever", "signal": "approved"},
    )


@pytest.mark.usefixtures("parked")
def test_what_a_job_is_parked_for_is_told(call: Call) -> None:
    assert call("why", "hour").stdout.startswith("It is parked for the signal 'approved' until 20")
    told = call("why", "ever").stdout
    assert told.startswith("It is parked for the signal 'approved' for as long as it takes")
    assert "parked     for the signal 'approved' until 20" in call("job", "hour").stdout
    shown = call("job", "ever").stdout
    assert "parked     for the signal 'approved' for as long as it takes" in shown
    assert "9999" not in shown


@pytest.mark.usefixtures("parked")
def test_what_cannot_get_a_signal_exits_with_3(call: Call) -> None:
    assert call("signal", "hour", "approved", "1").exit_code == 0
    assert call("signal", "hour", "approved", "1").exit_code == 0
    call("cancel", "ever")
    for words, sentence in (
        (("nobody", "approved"), "There is no job nobody"),
        (("ever", "approved"), "Job ever cannot get a signal: it is cancelled already."),
        (("hour", "approved", "2"), "Job hour has the signal 'approved' already"),
    ):
        result = call("signal", *words)
        assert (result.exit_code, result.stdout) == (3, "")
        assert result.stderr.startswith(f"windlass: {sentence}")


def test_a_name_that_cannot_be_is_a_wrong_command(call: Call) -> None:
    result = call("signal", "j", " x")
    assert result.exit_code == 2
    assert "no blanks at its ends" in result.stderr
