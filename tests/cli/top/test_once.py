"""One frame as text, and what is refused."""

import pytest

from tests.cli.conftest import Call
from tests.cli.top.conftest import Site
from windlass import Windlass


def fill(app: Windlass, *queues: str) -> None:
    lost = app.task(name="lost")(lambda: None)
    for queue in queues:
        lost.using(queue=queue).enqueue()
    app.close()


def test_one_frame_is_printed_as_text_with_every_row(call: Call, app: Windlass) -> None:
    fill(app, *(f"q{n:02}" for n in range(40)))
    done = call("top", "--once")
    assert done.exit_code == 0
    assert sum(line.startswith("  q") for line in done.stdout.splitlines()) == 40
    assert "\x1b" not in done.stdout


def test_a_frame_can_be_filtered(call: Call, app: Windlass) -> None:
    fill(app, "mail", "films")
    shown = call("top", "--once", "--filter", "FIL").stdout
    assert "  films" in shown and "mail " not in shown.partition("Queues")[2]


def test_what_is_not_there_is_refused_in_a_sentence(call: Call) -> None:
    done = call("top", "--once")
    assert (done.exit_code, done.stdout) == (1, "")
    assert (
        done.stderr.startswith("windlass: There is no SQLite file") and done.stderr.count("\n") == 1
    )


@pytest.mark.parametrize("interval", ["0.1", "0", "-1", "often"])
def test_an_interval_that_cannot_be_is_refused(call: Call, interval: str) -> None:
    assert call("top", "--interval", interval).exit_code == 2


def test_without_a_terminal_it_says_what_to_do(call: Call) -> None:
    done = call("top")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr == (
        "windlass: There is no terminal to draw on: --once prints one frame as text, for scripts.\n"
    )


def test_what_cannot_be_shown_live_is_told_in_a_sentence(site: Site) -> None:
    site.command()
    site.screen.wait_for("windlass: There is no SQLite file", "ready>")
    assert "Queues" not in site.screen.screen()
    site.command(environ="TERM=dumb")
    site.screen.wait_for("windlass: The terminal cannot be drawn on", "or use --once.")


def test_one_frame_on_a_terminal_is_as_wide_as_that_and_needs_no_more_than_ascii(
    site: Site,
) -> None:
    site.enqueue("lost", queue="a-queue-with-quite-a-long-name-of-its-own")
    site.command("--once", environ="PYTHONIOENCODING=ascii")
    screen = site.screen.wait_for("nothing has failed", "ready>")
    assert "a-queue-with" in screen and "of-its-own" not in screen.partition("Queues")[2]
    assert screen.isascii()
