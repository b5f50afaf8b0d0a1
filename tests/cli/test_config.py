"""`windlass config`: what holds here, and why."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Call
from tests.cli.program import Program
from tests.cli.test_faults import misused, refused
from windlass.config import SECTIONS, ServerSettings


def rows(text: str) -> dict[str, tuple[str, str]]:
    """Each setting that has a value, with that and its source; of one section."""
    _, _, *lines = text.splitlines()
    cells = [line.split(maxsplit=2) for line in lines]
    return {name: (value, source.strip()) for name, value, source in (c for c in cells if c[2:])}


def test_every_section_is_shown_with_every_setting(call: Call) -> None:
    text = call("config").stdout
    parts = text.split("\n\n")
    assert [part.splitlines()[0] for part in parts] == [
        "[store]",
        "[worker]",
        "[server]",
        "[history]",
    ]
    for part in parts[1:]:
        section, head, *lines = part.splitlines()
        assert head.split() == ["name", "value", "from"]
        fields = SECTIONS[section.strip("[]")].__struct_fields__
        assert [line.split()[0] for line in lines] == list(fields)


def test_each_value_is_told_with_its_source(program: Program) -> None:
    (program.folder / "windlass.toml").write_text("[server]\nhttp_port = 0\nmax_wait = 5\n")
    environ = {"WINDLASS_SERVER_MAX_WAIT": "7.5", "WINDLASS_SERVER_REDACT": "password, iban"}
    done = program("config", "server", environ=environ)
    assert (done.returncode, done.stderr) == (0, "")
    found = rows(done.stdout)
    assert found["http_port"] == ("0", "windlass.toml [server]")
    assert found["max_wait"] == ("7.5", "WINDLASS_SERVER_MAX_WAIT")
    assert found["redact"] == ("password,iban", "WINDLASS_SERVER_REDACT")
    assert found["max_body"] == ("8388608", "default")
    assert found["upkeep"] == ("true", "default")


def test_programs_get_the_values_as_they_are(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WINDLASS_WORKER_QUEUES", "a:3,b")
    found = json.loads(call("config", "--json").stdout)
    assert list(found) == ["store", *SECTIONS]
    assert found["worker"]["queues"] == {"value": ["a:3", "b"], "from": "WINDLASS_WORKER_QUEUES"}
    assert found["worker"]["strict"] == {"value": False, "from": "default"}
    assert found["server"]["max_body"]["value"] == ServerSettings().max_body
    assert list(json.loads(call("config", "history", "--json").stdout)) == ["history"]


def test_the_store_is_told_with_its_source(
    call: Call, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert rows(call("config", "store").stdout) == {"url": (url, "WINDLASS_URL")}
    monkeypatch.delenv("WINDLASS_URL")
    assert rows(call("config", "store").stdout) == {"url": ("sqlite:///windlass.db", "default")}


@pytest.mark.parametrize("words", [[], ["--json"]])
def test_passwords_are_not_shown(
    call: Call, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.setenv("WINDLASS_URL", "redis://ada:geheim@db/0")
    monkeypatch.setenv("WINDLASS_HISTORY", "mysql://host/db?password=geheim")
    text = call("config", *words).stdout
    assert "geheim" not in text
    assert "redis://ada:***@db/0" in text
    assert "mysql://host/db?password=***" in text
    assert "WINDLASS_HISTORY" in text


def test_no_store_is_needed_and_no_file_made(call: Call, tmp_path: Path) -> None:
    assert call("config").exit_code == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "[sever]\nhost = '::'",
            "Unknown section [sever] in windlass.toml: did you mean [server]?",
        ),
        ("[server]\nhots = '::'", "Unknown setting server.hots: did you mean host?"),
        ("[server]\nrate = 'many'", "A setting of server is wrong: rate is a text as 10/s, "),
        (
            "[server]\nhttp_port = 'http'",
            "A setting of server is wrong: http_port must be a whole number; correct it in wind",
        ),
        ("[history]\nmost = -1", "A setting of history is wrong: most of history must be"),
    ],
)
def test_a_setting_that_cannot_be_is_refused_and_nothing_is_shown(
    call: Call, tmp_path: Path, text: str, sentence: str
) -> None:
    (tmp_path / "windlass.toml").write_text(text, "utf-8")
    assert refused(call("config")).startswith(sentence)


def test_an_unknown_variable_of_a_section_is_refused(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WINDLASS_SERVER_MAX_BATCHES", "5")
    assert refused(call("config", "server")) == (
        "Unknown setting server.max_batches: did you mean max_batch?"
    )


def test_a_variable_that_may_be_a_slip_is_told_beside_the_settings(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WINDLASS_SEVER_HOST", "::")
    result = call("config", "server", "--json")
    assert result.exit_code == 0
    assert result.stderr == (
        "windlass: WINDLASS_SEVER_HOST is no setting: is it WINDLASS_SERVER_HOST?\n"
    )
    assert json.loads(result.stdout)["server"]["host"]["value"] == "127.0.0.1"


def test_a_section_that_does_not_exist(call: Call) -> None:
    assert "'sever' is not one of 'store', 'worker', 'server', 'history'" in misused(
        call("config", "sever")
    )
