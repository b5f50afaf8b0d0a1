"""The view on a real terminal, on a real store with real workers."""

import os
import re
import signal

from tests.cli.top.conftest import Site
from tests.cli.top.tmux import PATIENCE
from windlass.core.states import State

COLOUR = re.compile(r"\x1b\[(?:\d+;)*3[0-7]m")


def state_of(site: Site, id: str) -> State:
    return site.jobs.job(id).get().state


def wait_for_state(site: Site, id: str, state: State) -> None:
    site.screen.wait_until(lambda _: state_of(site, id) is state)


def paused(site: Site, name: str) -> bool:
    found = site.jobs.client.block(lambda store: store.queues(), "", "")
    return any(queue.paused for queue in found if queue.name == name)


def test_every_pane_shows_what_there_is_on_80_by_24(site: Site) -> None:
    dead = site.enqueue("refuse", queue="mail")
    site.enqueue("cut", 90, queue="films")
    site.enqueue("lost", queue="nobody")
    with site.worker():
        wait_for_state(site, dead, State.DEAD)
        screen = site.top().wait_for("40 % cutting", "not today", "(1/", "none")
        assert COLOUR.search(site.screen.screen(colours=True))
    lines = screen.rstrip("\n").split("\n")
    assert len(lines) == 24 and lines[0].endswith("Z every 0.5 s") and len(lines[0]) == 80
    assert re.search(r"no worker +No worker serves the queue nobody, where 1 job waits", screen)
    assert re.search(r"^. films +0 +1 ", screen, re.MULTILINE)
    assert re.search(r"^  nobody +1 +0 .* none$", screen, re.MULTILINE)
    assert re.search(r"^  cut +films +\S+:\d+ +1/4 +\d+ s +40 % cutting", screen, re.MULTILINE)
    assert re.search(r"^  \S+ +\d+ +mail,films +1/\d+ +\d+ MB", screen, re.MULTILINE)
    assert re.search(r"^  refuse +mail +dead +1/4 +\d+ s +Fatal: not today", screen, re.MULTILINE)


def test_a_queue_is_paused_and_resumed_by_a_key(site: Site) -> None:
    site.enqueue("greet", "you", queue="mail")
    site.enqueue("lost", queue="nobody")
    site.top().wait_for("> mail")
    site.screen.press("Down")
    site.screen.wait_for("> nobody")
    site.screen.press("p")
    seen = site.screen.wait_for("Paused the queue nobody.", "The queue nobody is paused, and 1 job")
    assert re.search(r"nobody +1 .* paused$", seen, re.MULTILINE)
    assert paused(site, "nobody") and not paused(site, "mail")
    site.screen.press("p")
    site.screen.wait_for("Resumed the queue nobody.")
    site.screen.wait_without("paused")
    assert not paused(site, "nobody")


def test_a_dead_job_is_opened_and_replayed_by_keys(site: Site) -> None:
    dead = site.enqueue("refuse", queue="mail")
    greeted = site.enqueue("greet", "you", queue="mail")
    with site.worker() as worker:
        wait_for_state(site, dead, State.DEAD)
        wait_for_state(site, greeted, State.COMPLETED)
        # Before it ends it tells what it has counted.
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(PATIENCE) == 0
    seen = site.top().wait_for("completed 1/min", "failed 1/min")
    assert re.search(r"dead +1 job of the queue mail died within the last hour", seen)
    assert re.search(r"^> mail .* 1/min +█ ", seen, re.MULTILINE)
    site.screen.press("5")
    site.screen.wait_for("> refuse")
    site.screen.press("Enter")
    site.screen.wait_for("It is dead since", f"id         {dead}", "call       refuse()")
    site.screen.press("r")
    site.screen.wait_for("Replayed the job", "state      pending")
    assert state_of(site, dead) is State.PENDING
    site.screen.press("Escape")
    site.screen.wait_for("nothing has failed", "Queues")


def test_an_active_job_is_cancelled_by_a_key_after_a_yes(site: Site) -> None:
    job = site.enqueue("cut", 90, queue="films")
    with site.worker():
        site.top().wait_for("40 % cutting")
        site.screen.press("Tab")
        site.screen.wait_for("> cut")
        site.screen.press("c")
        site.screen.wait_for(f"Cancel the job {job}?")
        site.screen.press("n")
        site.screen.wait_for("Nothing was changed.")
        assert state_of(site, job) is State.ACTIVE
        site.screen.press("c", "y")
        site.screen.wait_for(f"Cancelled the job {job}.", "nothing is running")
        assert state_of(site, job) is State.CANCELLED


def test_help_filter_and_interval(site: Site) -> None:
    for name in ("alpha", "beta", "gamma"):
        site.enqueue("lost", queue=name)
    site.top().press("?")
    site.screen.wait_for("pause the chosen queue", "Escape back")
    site.screen.press("Escape")
    site.screen.wait_for("> alpha", "beta", "gamma")
    site.screen.press("/")
    site.screen.type("MM")
    site.screen.wait_for("filter: MM_", "> gamma")
    site.screen.press("Enter")
    assert "beta" not in site.screen.wait_for("filter: MM", "Escape shows all")
    site.screen.press("Escape")
    site.screen.wait_for("> gamma", "beta")
    site.screen.press("+")
    site.screen.wait_for("Looks every 1 s from now on.", "every 1 s")
    site.screen.press("Enter")
    site.screen.wait_for("queue      gamma", "blocked    0")


def test_the_view_follows_the_size_of_the_window(site: Site) -> None:
    for n in range(30):
        site.enqueue("lost", queue=f"queue-{n:02}")
    site.top()
    site.screen.resize(120, 50)
    screen = site.screen.wait_for("cancelled", "queue-29")
    assert screen.rstrip("\n").split("\n")[-1].startswith("? help")
    site.screen.resize(40, 10)
    screen = site.screen.wait_without("queue-29")
    site.screen.wait_until(lambda screen: screen.count("Queues 30") == 1)
    site.screen.press("End")
    site.screen.wait_for("> queue-29")
    site.screen.resize(80, 24)
    screen = site.screen.wait_for("> queue-29", "Errors, 0 dead", "Workers 0")
    assert max(map(len, screen.splitlines())) <= 80


def wait_for_prompt(site: Site) -> None:
    """The shell is back, and with it the screen and the ways of the terminal."""
    site.screen.wait_until(lambda screen: screen.rstrip().endswith("ready>"))
    assert "Queues" not in site.screen.screen()
    site.screen.shell("clear; stty -a > after; cmp before after && echo s'ame'")
    site.screen.wait_for("same")


def test_it_stops_on_ctrl_z_goes_on_in_the_foreground_and_q_leaves_the_terminal_as_it_was(
    site: Site,
) -> None:
    site.enqueue("lost", queue="mail")
    # With job control, as a shell has that somebody types on.
    site.screen.shell("set -m; stty -a > before")
    site.top().press("C-z")
    wait_for_prompt(site)
    site.screen.shell("fg")
    site.screen.wait_for("> mail", "? help")
    site.screen.press("q")
    wait_for_prompt(site)


def test_a_signal_to_stop_leaves_the_terminal_as_it_was_too(site: Site) -> None:
    site.enqueue("lost", queue="mail")
    site.screen.shell("set -m; stty -a > before")
    site.command(after="& echo $! > pid; fg")
    site.screen.wait_for("> mail")
    os.kill(int((site.program.folder / "pid").read_text()), signal.SIGTERM)
    wait_for_prompt(site)


NOISY = """
import logging, sys, threading, time

from windlass import Windlass

app = Windlass()


def shout():
    while True:
        print("NOISE", file=sys.stderr, flush=True)
        logging.getLogger("noisy").warning("the disk is nearly full")
        time.sleep(0.05)


threading.Thread(target=shout, daemon=True).start()
"""


def test_no_library_can_write_across_the_view_and_what_it_warns_of_is_shown(site: Site) -> None:
    site.enqueue("lost", queue="mail")
    (site.program.folder / "noisy.py").write_text(NOISY, "utf-8")
    site.command("-A", "noisy:app")
    site.screen.wait_for("> mail", "the disk is nearly full")
    screen = site.screen.screen()
    assert "NOISE" not in screen and screen.count("nearly full") == 1
    site.screen.press("q")
    site.screen.wait_for("NOISE")


def test_colours_are_left_out_where_they_are_not_wanted_and_ctrl_c_ends_it(site: Site) -> None:
    site.enqueue("lost", queue="mail")
    site.screen.shell("stty -a > before")
    site.top(environ="NO_COLOR=1")
    screen = site.screen.screen(colours=True)
    assert not COLOUR.search(screen)
    assert re.search(r"\x1b\[(?:\d+;)*7m(?:\x1b\[\d+m)*> mail", screen), repr(screen)
    site.screen.press("C-c")
    wait_for_prompt(site)
