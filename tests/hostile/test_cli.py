"""Any arguments on the command line: an answer or a sentence, and never a traceback."""

from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from windlass.cli.main import COMMANDS, cli

STAYS = {"worker", "server", "top", "demo"}
"""They go on until they are told to stop, once their arguments are right."""

NAMES = sorted(COMMANDS.keys() - STAYS)
OPTIONS = """-A --url --queue --json --delay --at --id --state --limit --yes --older-than --priority
-k --kwargs --unique --help -Q --task -- - list add purge replay delete pause create revoke drop"""
VALUES = """q 0 -1 1e309 nan 9999999999999999999 2030-01-31T09:00Z 0001-01-01T00:00Z 90s a=b {} []
9999-12-31T23:59Z sqlite:///x.db memory:// postgresql://[ ' ; * .. /dev/null @file"""
WORDS = [*OPTIONS.split(), *VALUES.split()]
ARGUMENTS = st.lists(
    st.sampled_from([*WORDS, "\ud800", "\udcff", "", " ", "\n", "x" * 5_000]) | st.text(max_size=8),
    max_size=5,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cli")


@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(NAMES), ARGUMENTS)
@example("jobs", ["--url", "sqlite:////dev/null"])
@example("jobs", ["--url", "sqlite:////"])
@example("cron", ["add", "name", "* * * * *", "task"])
@example("enqueue", ["t", "--at", "9999-12-31T23:59Z"])
def test_any_arguments_end_with_a_known_code(folder: Path, name: str, words: list[str]) -> None:
    environ: dict[str, Any] = {"WINDLASS_URL": f"sqlite:///{folder}/jobs.db"}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        result = CliRunner().invoke(
            cli, [name, *words], prog_name="windlass", env=environ, input=""
        )
    if result.exception is not None:
        assert isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code in range(6)
    assert "Traceback" not in result.output


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(sorted(STAYS)), ARGUMENTS)
def test_those_that_stay_take_no_wrong_argument(name: str, words: list[str]) -> None:
    """What is understood is not run here: only the reading of it is."""
    command = cli.get_command(click.Context(cli, **cli.context_settings), name)
    assert command is not None
    try:
        command.make_context(name, list(words))
    except (click.ClickException, click.exceptions.Exit):
        return
