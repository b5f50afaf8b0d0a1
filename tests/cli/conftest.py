"""The program, as a process and, where a process adds nothing, called from here."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.cli.program import Program
from windlass import Windlass
from windlass.cli.main import cli

Call = Callable[..., Result]


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/jobs.db"


@pytest.fixture
def app(url: str) -> Windlass:
    """An app on the store that `call` looks at."""
    return Windlass(url)


@pytest.fixture
def call(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    """`windlass`, without a process."""
    monkeypatch.setenv("WINDLASS_URL", url)
    monkeypatch.chdir(tmp_path)

    def call(*words: str) -> Result:
        result = CliRunner().invoke(cli, words, prog_name="windlass", catch_exceptions=False)
        return result

    return call
