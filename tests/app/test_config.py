"""Settings: where values come from, which wins, and what is refused."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from windlass.config import WorkerSettings, load, split_names
from windlass.errors import ConfigError


def worker(
    folder: Path, flags: Mapping[str, Any] | None = None, variables: Mapping[str, str] | None = None
) -> WorkerSettings:
    given = variables or {}
    environ = {f"WINDLASS_WORKER_{name.upper()}": text for name, text in given.items()}
    return load(WorkerSettings, "worker", flags, environ, folder)


def write(folder: Path, text: str, name: str = "windlass.toml") -> None:
    (folder / name).write_text(text, "utf-8")


def test_without_anything_the_defaults_hold(tmp_path: Path) -> None:
    settings = worker(tmp_path)
    assert settings == WorkerSettings()
    assert (settings.queues, settings.concurrency, settings.lease) == (("default",), 100, 30.0)


def test_flags_win_over_variables_these_over_the_file_and_it_over_the_defaults(
    tmp_path: Path,
) -> None:
    write(tmp_path, "[worker]\nconcurrency = 1\nlease = 1\nrescue_interval = 1\n")
    settings = worker(tmp_path, {"concurrency": 3}, {"concurrency": "2", "lease": "2"})
    assert (settings.concurrency, settings.lease, settings.rescue_interval) == (3, 2.0, 1.0)
    assert settings.prune_interval == WorkerSettings().prune_interval


def test_a_flag_that_was_not_given_decides_nothing(tmp_path: Path) -> None:
    assert worker(tmp_path, {"concurrency": None}, {"concurrency": "7"}).concurrency == 7


def test_its_own_file_wins_over_the_shared_one(tmp_path: Path) -> None:
    write(tmp_path, "[tool.windlass.worker]\nconcurrency = 1\nlease = 1", "pyproject.toml")
    assert worker(tmp_path).concurrency == 1
    write(tmp_path, "[worker]\nconcurrency = 2")
    settings = worker(tmp_path)
    assert (settings.concurrency, settings.lease) == (2, 30.0)


@pytest.mark.parametrize("text", ["", "[project]\nname = 'x'", "[tool.other]\nx = 1"])
def test_a_shared_file_may_say_nothing_of_us(tmp_path: Path, text: str) -> None:
    write(tmp_path, text, "pyproject.toml")
    assert worker(tmp_path) == WorkerSettings()


def test_other_variables_are_left_alone(tmp_path: Path) -> None:
    environ = {"WINDLASS_URL": "memory://", "WORKER_LEASE": "1", "WINDLASS_SERVER_PORT": "1"}
    assert load(WorkerSettings, "worker", None, environ, tmp_path) == WorkerSettings()


def test_without_a_folder_and_variables_those_of_the_process_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "[worker]\nlease = 5")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WINDLASS_WORKER_CONCURRENCY", "6")
    settings = load(WorkerSettings, "worker")
    assert (settings.lease, settings.concurrency) == (5.0, 6)


def test_queues_are_a_list_in_a_file_and_divided_by_commas_in_a_variable(tmp_path: Path) -> None:
    variables = {"queues": "mail, default,,slow "}
    assert worker(tmp_path, None, variables).queues == ("mail", "default", "slow")
    write(tmp_path, '[worker]\nqueues = ["mail", "default"]')
    assert worker(tmp_path).queues == ("mail", "default")


@pytest.mark.parametrize(
    ("text", "names"), [("", ()), (" , ", ()), ("a", ("a",)), ("a,b c , d", ("a", "b c", "d"))]
)
def test_names_are_divided_by_commas_and_stripped(text: str, names: tuple[str, ...]) -> None:
    assert split_names(text) == names


@pytest.mark.parametrize("name", ["windlass.toml", "pyproject.toml"])
def test_a_misspelt_section_is_not_passed_over(tmp_path: Path, name: str) -> None:
    prefix = "tool.windlass." if name == "pyproject.toml" else ""
    (tmp_path / name).write_text(f"[{prefix}wroker]\nconcurrency = 5\n", "utf-8")
    with pytest.raises(ConfigError, match=r"Unknown section \[wroker\] .*did you mean \[worker\]"):
        worker(tmp_path)


def test_every_setting_can_be_a_variable(tmp_path: Path) -> None:
    fields = msgspec.structs.fields(WorkerSettings)
    variables = {field.name: "true" if field.type is bool else "7" for field in fields}
    settings = worker(tmp_path, None, variables)
    assert settings == WorkerSettings(
        queues=("7",),
        strict=True,
        concurrency=7,
        lease=7,
        shutdown_timeout=7,
        hook_timeout=7,
        rescue_interval=7,
        prune_interval=7,
        processes=7,
        max_jobs=7,
        max_memory=7,
        unknown_patience=7,
    )


@pytest.mark.parametrize(
    ("name", "hint"),
    [("concurency", "did you mean concurrency?"), ("zzz", "known are queues, strict, concurrency")],
)
def test_an_unknown_setting_gets_a_suggestion_wherever_it_stands(
    tmp_path: Path, name: str, hint: str
) -> None:
    for flags, variables, text in [
        ({name: 1}, {}, ""),
        ({}, {name: "1"}, ""),
        ({}, {}, f"[worker]\n{name} = 1"),
    ]:
        write(tmp_path, text)
        with pytest.raises(ConfigError) as caught:
            worker(tmp_path, flags, variables)
        assert f"Unknown setting worker.{name}: {hint}" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("concurrency", "0"),
        ("concurrency", "-3"),
        ("concurrency", "many"),
        ("concurrency", "2.5"),
        ("concurrency", ""),
        ("lease", "0"),
        ("lease", "soon"),
        ("lease", "nan"),
        ("lease", "inf"),
        ("shutdown_timeout", "-1"),
        ("shutdown_timeout", "nan"),
        ("rescue_interval", "0"),
        ("rescue_interval", "inf"),
        ("prune_interval", "-0.5"),
        ("prune_interval", "nan"),
        ("queues", ""),
        ("queues", " , "),
        ("queues", "a,b:0"),
        ("queues", "a,a"),
        ("strict", "perhaps"),
        ("unknown_patience", "-1"),
        ("unknown_patience", "inf"),
    ],
)
def test_a_value_that_cannot_be_is_refused_with_its_name(
    tmp_path: Path, name: str, text: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        worker(tmp_path, None, {name: text})
    assert name in str(caught.value)


@pytest.mark.parametrize(
    ("name", "text"), [("concurrency", "0"), ("concurrency", "many"), ("queues", "")]
)
def test_a_refusal_is_one_sentence_with_one_full_stop(tmp_path: Path, name: str, text: str) -> None:
    with pytest.raises(ConfigError, match=r"^[A-Z].*[^.]\.$"):
        worker(tmp_path, None, {name: text})


def test_running_jobs_may_be_given_no_time_at_all(tmp_path: Path) -> None:
    assert worker(tmp_path, None, {"shutdown_timeout": "0"}).shutdown_timeout == 0


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("windlass.toml", "worker = 3"),
        ("pyproject.toml", "[tool.windlass]\nworker = 3"),
        ("pyproject.toml", "[tool]\nwindlass = 3"),
        ("pyproject.toml", "tool = 3"),
    ],
)
def test_what_should_be_a_table_must_be_one(tmp_path: Path, name: str, text: str) -> None:
    write(tmp_path, text, name)
    with pytest.raises(ConfigError, match=rf"{name}.* must be a table"):
        worker(tmp_path)


@pytest.mark.parametrize("name", ["windlass.toml", "pyproject.toml"])
@pytest.mark.parametrize("content", [b"[worker\n", b"x = ", b"\xff\xfe"])
def test_a_file_that_is_no_toml_is_named(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ConfigError, match=f"{name} cannot be read"):
        worker(tmp_path)


def test_settings_made_in_code_are_checked_too() -> None:
    with pytest.raises(ConfigError, match="concurrency must be above 0"):
        WorkerSettings(concurrency=0)
    with pytest.raises(ConfigError, match="at least one queue"):
        WorkerSettings(queues=())


def test_one_name_where_several_belong_is_not_taken_letter_by_letter() -> None:
    """`queues="mail"` would serve the queues m, a, i and l, and so do nothing, in silence."""
    with pytest.raises(ConfigError, match="queues"):
        WorkerSettings(queues="mail")  # type: ignore[arg-type]


def test_settings_cannot_be_changed_afterwards() -> None:
    with pytest.raises(AttributeError):
        WorkerSettings().concurrency = 5  # type: ignore[misc]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"processes": 0}, "processes must be above 0"),
        ({"max_jobs": -1}, "max_jobs must be 0 or more"),
        ({"max_memory": -1}, "max_memory must be 0 or more"),
    ],
)
def test_a_supervisor_cannot_have_less_than_nothing(given: dict[str, int], sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        WorkerSettings(**given)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["processes", "max_jobs", "max_memory"])
def test_more_than_one_process_or_any_limit_needs_a_supervisor(name: str) -> None:
    assert not WorkerSettings().is_supervised
    assert WorkerSettings(**{name: 2}).is_supervised  # type: ignore[arg-type]
