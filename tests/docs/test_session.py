"""A page that is wrong is found out: a check that cannot fail proves nothing."""

from pathlib import Path

import pytest

from tests.docs.pages import Block, commands
from tests.docs.session import Session

FENCE = "```"
APP = f"""{FENCE}python title="little.py"
from windlass import Windlass

app = Windlass()


@app.task
def nothing() -> None: ...
{FENCE}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WINDLASS_URL", "sqlite:///windlass.db")
    return tmp_path


def follow(folder: Path, text: str) -> None:
    page = folder / "page.md"
    page.write_text(text, "utf-8")
    with Session(folder) as session:
        session.run(page)


def block(language: str, text: str) -> str:
    return f"{FENCE}{language}\n{text}\n{FENCE}\n"


def test_a_right_page_passes(folder: Path) -> None:
    follow(folder, block("python", "print(1 + 1)") + block("text", "2"))
    follow(
        folder,
        block("sh", "windlass migrate\nwindlass queues")
        + block("text", "...There are no queues in ..."),
    )


def test_code_that_raises_is_noticed(folder: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        follow(folder, block("python", "1 / 0"))


def test_other_output_than_was_said_is_noticed(folder: Path) -> None:
    with pytest.raises(AssertionError, match="expected"):
        follow(folder, block("python", "print(1 + 1)") + block("text", "3"))


def test_a_command_that_fails_is_noticed(folder: Path) -> None:
    with pytest.raises(AssertionError, match="There is no job nobody"):
        follow(folder, block("sh", "windlass migrate\nwindlass job nobody"))


def test_a_worker_that_does_not_start_is_noticed(folder: Path) -> None:
    follow(folder, APP + block("sh", "windlass worker little:app"))
    with pytest.raises(AssertionError, match="little:lost"):
        follow(folder, APP + block("sh", "windlass worker little:lost"))


def test_a_server_is_reached_at_the_port_on_the_page(folder: Path) -> None:
    follow(
        folder,
        APP
        + block("sh", "windlass server -A little:app\ncurl -s localhost:8080/livez")
        + block("text", '{"status":"alive",...}')
        + block("python", LOOK)
        + block("text", "200"),
    )


LOOK = """from urllib.request import urlopen

with urlopen("http://localhost:8080/readyz") as answer:
    print(answer.status)"""


def test_a_server_that_does_not_start_is_noticed(folder: Path) -> None:
    with pytest.raises(AssertionError, match="little:lost"):
        follow(folder, APP + block("sh", "windlass server -A little:lost"))


def test_a_request_that_nobody_answers_is_noticed(folder: Path) -> None:
    with pytest.raises(AssertionError, match="curl"):
        follow(folder, block("sh", "curl -s localhost:8080/livez"))


def test_what_a_shell_keeps_is_there_later(folder: Path) -> None:
    kept = "NAME=$(windlass enqueue nothing --id page.md)"
    follow(
        folder, block("sh", f'{kept}\ncurl -s "file://$PWD/$NAME"') + block("text", "...NAME...")
    )


def test_a_command_may_have_several_lines() -> None:
    text = "a --b \\\n    c  # and so on\n# not this\nd 'e\nf'\n"
    assert commands(Block("sh", None, 1, text)) == ["a --b     c  # and so on", "d 'e\nf'"]
