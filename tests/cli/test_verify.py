"""`windlass verify`, on a store of one's own."""

import json
from pathlib import Path

from tests.cli.conftest import Call


def test_a_store_that_keeps_its_promises_is_said_to(call: Call, url: str, tmp_path: Path) -> None:
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
