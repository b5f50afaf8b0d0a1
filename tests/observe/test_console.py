"""Lines that are held for a moment: none is lost, the order stays, and they look as others do."""

import io
import logging
import threading

import pytest

from windlass.observe.console import MOST, Console, console_of
from windlass.observe.formats import (
    Held,
    JsonFormatter,
    LineFormatter,
    PlainFormatter,
    PrettyFormatter,
    record_of,
)

MOMENTS = (0.0, 1_700_000_000.0, 1_700_000_000.9996, 1_700_000_001.25, 1_700_003_600.001)


def held(text: str, created: float = 1_700_000_000.5) -> Held:
    return Held("shop", created, "%s after %.1f ms", (text, 1.25))


@pytest.fixture
def console() -> Console:
    made = Console(PlainFormatter())
    made.setStream(io.StringIO())
    return made


@pytest.fixture
def log(console: Console) -> logging.Logger:
    # One of its own: pytest listens to all that `getLogger` knows.
    logger = logging.Logger("shop")
    logger.addHandler(console)
    return logger


def texts(console: Console) -> list[str]:
    written = console.stream.getvalue()  # type: ignore[attr-defined]
    return [line.partition(": ")[2] for line in written.splitlines()]


@pytest.mark.parametrize("formatter", [PlainFormatter(), JsonFormatter(), PrettyFormatter()])
@pytest.mark.parametrize("text", ["GET /jobs", "Zoë \x1b[31m \x00", 'a "quote" \\'])
def test_many_lines_are_written_as_a_record_of_each_would_be(
    formatter: LineFormatter, text: str
) -> None:
    lines = [held(text, created) for created in MOMENTS]
    assert formatter.lines(lines).split("\n") == [
        formatter.format(record_of(line)) for line in lines
    ]


def test_what_is_held_comes_before_the_next_line(console: Console, log: logging.Logger) -> None:
    assert console.hold(held("first"))
    assert not console.hold(held("second"))
    assert texts(console) == []
    log.info("third")
    assert console.hold(held("fourth"))
    console.write_held()
    assert texts(console) == [
        "first after 1.2 ms",
        "second after 1.2 ms",
        "third",
        "fourth after 1.2 ms",
    ]


def test_no_more_is_held_than_a_bound(console: Console) -> None:
    for number in range(MOST):
        console.hold(held(str(number)))
    assert texts(console) == []
    console.hold(held("last"))
    assert len(texts(console)) == MOST + 1


def test_the_end_of_a_console_writes_what_it_holds(console: Console) -> None:
    stream = console.stream
    console.hold(held("only"))
    console.close()
    assert "only after" in stream.getvalue()  # type: ignore[attr-defined]


def test_a_console_of_warnings_alone_writes_no_lines(console: Console) -> None:
    console.setLevel(logging.WARNING)
    console.hold(held("only"))
    console.write_held()
    assert texts(console) == []


def test_a_stream_that_is_gone_ends_nothing(
    console: Console, capsys: pytest.CaptureFixture[str]
) -> None:
    console.stream.close()
    console.hold(held("only"))
    console.write_held()
    assert "Logging error" in capsys.readouterr().err


def test_lines_are_held_only_where_nobody_else_listens(
    console: Console, log: logging.Logger
) -> None:
    child = logging.Logger("shop.child")
    child.parent = log
    assert console_of(child) is console
    other = logging.NullHandler()
    child.addHandler(other)
    assert console_of(child) is None
    child.removeHandler(other)
    own = logging.Filter()
    log.addFilter(own)
    assert console_of(child) is None
    log.removeFilter(own)
    console.addFilter(own)
    assert console_of(child) is None
    console.removeFilter(own)
    assert console_of(child) is console
    child.propagate = False
    assert console_of(child) is None


def test_threads_do_not_hold_each_other_up(log: logging.Logger, console: Console) -> None:
    log.warning("one")
    another = threading.Thread(target=log.warning, args=("two",), daemon=True)
    another.start()
    another.join(20)
    assert not another.is_alive(), "the first has kept the lock of the handler"
    assert [text.rpartition(" ")[2] for text in texts(console)] == ["one", "two"]
