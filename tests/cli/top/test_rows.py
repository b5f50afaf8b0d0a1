"""What the panes show of a look."""

from tests.cli.top.samples import HOUR, NOW, busy, job, look, queue, worker
from windlass.cli.top.frame import Style
from windlass.cli.top.pane import Pane
from windlass.cli.top.rows import LONGEST, active, alerts, errors, panes, queues, workers
from windlass.cli.top.sparkline import ASCII_BARS
from windlass.core.model import Failure
from windlass.core.states import State


def shown(pane: Pane, n: int = 0) -> dict[str, str]:
    titles = [column.title for column in pane.columns]
    return dict(zip(titles, (cell.text for cell in pane.rows[n].cells), strict=True))


def styles(pane: Pane, n: int = 0) -> dict[str, Style]:
    return {cell.text: cell.style for cell in pane.rows[n].cells if cell.style is not Style.PLAIN}


def test_a_queue_has_its_counts_its_oldest_job_its_rate_and_its_workers() -> None:
    pane = queues(busy())
    assert shown(pane) == {
        "Queues 2": "mail",
        "pending": "1,234",
        "active": "2",
        "scheduled": "0",
        "retry": "1",
        "dead": "12k",
        "blocked": "0",
        "completed": "0",
        "cancelled": "0",
        "oldest": "1 min",
        "rate": "42/min",
        " " * 10: "   ███████",
        "workers": "2",
    }
    assert styles(pane)["12k"] is Style.BAD
    assert (pane.rows[0].key, pane.rows[0].paused, pane.rows[0].job) == ("mail", False, None)


def test_a_paused_queue_and_one_that_nobody_serves_say_so() -> None:
    assert shown(queues(busy()), 1)["workers"] == "paused"
    assert queues(busy()).rows[1].paused
    assert shown(queues(look(queue("mail", pending=1))))["workers"] == "none"


def test_a_queue_whose_rate_was_not_asked_for_shows_none() -> None:
    assert shown(queues(busy()), 1)["rate"] == ""


def test_bars_can_be_plain_letters() -> None:
    assert shown(queues(busy(), ASCII_BARS))[" " * 10] == "   #######"


def test_a_worker_has_its_place_its_queues_its_slots_and_its_memory() -> None:
    pane = workers(busy())
    assert shown(pane, 1) == {
        "Workers 2": "w2.example.com",
        "pid": "4711",
        "queues": "*",
        "busy": "0/10",
        "memory": "123 MB",
        "up": "1 h",
        "heard of": "3 s ago",
        "completed": "7",
        "failed": "1",
        "": "quiet",
    }
    assert (shown(pane)["queues"], shown(pane)["memory"], shown(pane)[""]) == ("mail:3", "", "")


def test_a_worker_that_cannot_work_says_why() -> None:
    pane = workers(look(workers=[worker("w", fault="The event loop has been blocked for 7 s.")]))
    assert shown(pane)[""] == "The event loop has been blocked for 7 s."
    assert styles(pane)["The event loop has been blocked for 7 s."] is Style.BAD


def test_a_worker_without_a_free_slot_stands_out() -> None:
    assert styles(workers(look(workers=[worker("w", active=10)])))["10/10"] is Style.WARN


def test_an_active_job_has_its_worker_how_long_it_runs_and_how_far_it_is() -> None:
    pane = active(busy())
    assert shown(pane) == {
        "Active 2": "send",
        "queue": "mail",
        "worker": "w1.example.com:4711",
        "runs": "1/4",
        "since": "1 min",
        "progress": "45 % half way",
        "job": "a1",
    }
    assert pane.rows[0].job == "a1"


def test_an_active_job_whose_lease_ran_out_is_lost() -> None:
    assert shown(active(busy()), 1)["worker"] == "lost"


def test_errors_are_those_of_dead_jobs_and_of_jobs_to_be_tried_again() -> None:
    pane = errors(busy())
    assert shown(pane) == {
        "Errors, 12,345 dead": "send",
        "queue": "mail",
        "state": "dead",
        "runs": "2/4",
        "ago": "5 s",
        "error": "ValueError: no such address",
        "job": "d1",
    }
    assert (shown(pane, 1)["state"], shown(pane, 1)["ago"]) == ("retry", "9 s")


def test_text_of_anyone_cannot_reach_the_terminal_as_codes_nor_fill_it() -> None:
    evil = job("\x1b]0;x\x07", State.DEAD, task="a\x1b[2Jb", error=Failure("E", "x\n" * 9_999))
    pane = errors(look(failed=[evil]))
    texts = [cell.text for cell in pane.rows[0].cells]
    assert all(text.isprintable() for text in texts)
    assert max(map(len, texts)) <= LONGEST + 3
    assert queues(look(queue("q\x1b[2J"))).rows[0].cells[0].text.isprintable()


def test_alerts_are_what_needs_attention() -> None:
    pane = alerts(look(queue("mail", pending=5), oldest={"mail": NOW - HOUR}))
    assert [row.key for row in pane.rows] == ["no_worker mail"]
    assert pane.columns[0].title == "Attention 1"
    assert shown(pane)["Attention 1"] == "no worker"
    assert shown(pane)[""].endswith("the queue mail, where 5 jobs wait, the oldest for 1 h.")
    assert alerts(look()).columns[0].title == "Attention"


def test_an_empty_store_says_so_in_every_pane() -> None:
    found = panes(look())
    assert [(pane.name, len(pane.rows), bool(pane.nothing)) for pane in found] == [
        ("alerts", 0, True),
        ("queues", 0, True),
        ("active", 0, True),
        ("workers", 0, True),
        ("errors", 0, True),
    ]


def test_a_filter_keeps_the_rows_that_have_the_text_anywhere_in_whatever_case() -> None:
    pane = errors(busy())
    assert [row.key for row in pane.filtered("FETCH").rows] == ["r1"]
    assert [row.key for row in pane.filtered("d1").rows] == ["d1"]
    assert pane.filtered("") is pane
    nothing = pane.filtered("zebra")
    assert not nothing.rows and "zebra" in nothing.nothing
