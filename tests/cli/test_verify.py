"""`windlass verify`, on a store of one's own."""

import json
import random
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.cli.conftest import Call
from windlass.testing.chaos import plan
from windlass.testing.chaos.history import load, save
from windlass.testing.chaos.plan import ChaosPlan
from windlass.testing.chaos.record import Accepted
from windlass.testing.chaos.rules import RULES


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


def test_a_seed_is_simulated_and_its_history_judged_again(call: Call, tmp_path: Path) -> None:
    before = random.getstate()
    result = call("verify", "--simulate", "--seed", "7", "--record", f"{tmp_path}/kept")
    assert result.exit_code == 0, result.output
    first, *held, last = result.output.splitlines()
    assert first.startswith("seed 7, jobs ")
    assert "held: nothing accepted is lost" in held
    assert last == f"{len(held)} of {len(RULES)} rules held."
    assert random.getstate() == before
    again = call("verify", "--history", f"{tmp_path}/kept")
    assert again.exit_code == 0
    assert again.output.splitlines()[1:] == [*held, last]


def test_the_same_seed_and_steps_are_the_same_run(call: Call, tmp_path: Path) -> None:
    def run(folder: str, *steps: str) -> tuple[dict[str, Any], bytes]:
        result = call("verify", "--simulate", "--seed", "3", *steps, "--record", folder, "--json")
        assert result.exit_code == 0, result.output
        return json.loads(result.output), Path(folder, "events.jsonl").read_bytes()

    told, events = run(f"{tmp_path}/one", "--steps", "30")
    assert (told["seed"], told["kept"], told["breaches"]) == (3, True, [])
    assert told["faults"] >= 15
    assert run(f"{tmp_path}/two", "--steps", "30") == (told, events)
    assert run(f"{tmp_path}/three")[1] != events


def test_a_history_in_which_a_promise_was_broken_is_told_by_the_exit(
    call: Call, tmp_path: Path
) -> None:
    call("verify", "--simulate", "--seed", "7", "--record", str(tmp_path))
    history = load(tmp_path)
    lost = next(event.job for event in history.events if isinstance(event, Accepted))
    rest = [job for job in history.outcome.jobs if job.id != lost]
    save(replace(history, outcome=replace(history.outcome, jobs=rest)), tmp_path)
    result = call("verify", "--history", str(tmp_path))
    assert result.exit_code == 5
    assert f"broken: nothing accepted is lost: {lost} was accepted and is gone" in result.output


def test_the_history_of_a_chaos_run_is_kept(
    call: Call, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = partial(ChaosPlan, jobs=200, workers=2, producers=1, supervised=False, server=False)
    monkeypatch.setattr(plan, "ChaosPlan", small)
    folder = str(tmp_path / "kept")
    result = call("verify", url, "--theme", "elect", "--chaos", "1s", "--record", folder)
    assert result.exit_code == 0, result.output
    again = call("verify", "--history", folder, "--json")
    told = json.loads(again.output)
    assert told["kept"] and told["jobs"] > 0 and told["events"] > told["jobs"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "Give one of these: a store's URL, --simulate, --history FOLDER."),
        (("memory://", "--simulate"), "Give one of these"),
        (("memory://", "--seed", "7"), "add --simulate"),
        (("--history", "/nowhere/at/all"), "has no history that can be read"),
    ],
)
def test_what_cannot_be_verified_is_refused(
    call: Call, words: tuple[str, ...], sentence: str
) -> None:
    result = call("verify", *words)
    assert result.exit_code in (1, 2)
    assert sentence in " ".join(result.output.split())
