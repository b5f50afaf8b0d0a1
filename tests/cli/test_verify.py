"""`windlass verify`, on a store of one's own."""

import json
from functools import partial
from pathlib import Path

import pytest

from tests.cli.conftest import Call
from windlass.testing.chaos import plan
from windlass.testing.chaos.plan import ChaosPlan


def test_a_store_that_keeps_its_promises_is_said_to(
    call: Call, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Of the usual size, and with all that takes part, it is in tests/chaos.
    small = partial(ChaosPlan, jobs=200, workers=2, producers=1, supervised=False, server=False)
    monkeypatch.setattr(plan, "ChaosPlan", small)
    result = call("verify", url, "--theme", "elect", "--chaos", "1s")
    assert result.exit_code == 0, result.output
    assert "keeps what is promised." in result.output
    assert "lost 0" in result.output
    # Neither the store of the URL nor the private ones are there.
    assert not list(tmp_path.iterdir())


def test_programs_get_json(call: Call, url: str) -> None:
    result = call("verify", url, "--theme", "life", "--chaos", "0", "--json")
    told = json.loads(result.output)
    assert (told["kept"], told["failed"], told["chaos"]) == (True, [], None)
    assert told["checks"] > 0


def test_an_unknown_theme_and_a_store_without_places_are_refused(call: Call, url: str) -> None:
    unknown = call("verify", url, "--theme", "clam")
    assert unknown.exit_code == 2
    assert "known are" in unknown.output
    remote = call("verify", "http://localhost:1", "--theme", "life")
    assert remote.exit_code == 1
