"""Settings: where values come from, which wins, and what is refused."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from windlass.config import (
    SECTIONS,
    HistorySettings,
    ServerSettings,
    Setting,
    WorkerSettings,
    explain,
    history_settings,
    load,
    misspelt,
    split_names,
)
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
    assert (settings.queues, settings.concurrency, settings.lease) == ((), 100, 30.0)


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
@pytest.mark.parametrize(("slip", "meant"), [("wroker", "worker"), ("sever", "server")])
def test_a_misspelt_section_is_not_passed_over(
    tmp_path: Path, name: str, slip: str, meant: str
) -> None:
    prefix = "tool.windlass." if name == "pyproject.toml" else ""
    (tmp_path / name).write_text(f"[{prefix}{slip}]\nconcurrency = 5\n", "utf-8")
    with pytest.raises(
        ConfigError, match=rf"Unknown section \[{slip}\] .*did you mean \[{meant}\]"
    ):
        worker(tmp_path)


@pytest.mark.parametrize("text", ["", " , "])
def test_a_variable_that_names_no_queue_is_as_one_that_is_not_set(
    tmp_path: Path, text: str
) -> None:
    assert worker(tmp_path, None, {"queues": text}) == WorkerSettings()


def test_every_setting_can_be_a_variable(tmp_path: Path) -> None:
    fields = msgspec.structs.fields(WorkerSettings)
    variables = {field.name: "true" if field.type is bool else "7" for field in fields}
    words = {"log_level": "error", "log_format": "json", "log_capture": "off"}
    settings = worker(tmp_path, None, variables | words)
    assert settings == WorkerSettings(
        app="7",
        queues=("7",),
        strict=True,
        concurrency=7,
        threads=7,
        lease=7,
        shutdown_timeout=7,
        hook_timeout=7,
        rescue_interval=7,
        prune_interval=7,
        processes=7,
        max_jobs=7,
        max_memory=7,
        child_max_jobs=7,
        child_max_memory=7,
        child_idle=7,
        child_start=7,
        unknown_patience=7,
        log_level="error",
        log_format="json",
        log_jobs=7,
        log_capture="off",
        attempts_keep=7,
        tracing=True,
        metrics_port=7,
        metrics_host="7",
    )


@pytest.mark.parametrize(
    ("name", "hint"),
    [("concurency", "did you mean concurrency?"), ("zzz", "known are app, queues, strict, ")],
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
        ("queues", "a,b:0"),
        ("queues", "a,a"),
        ("strict", "perhaps"),
        ("unknown_patience", "-1"),
        ("unknown_patience", "inf"),
        ("log_level", "loud"),
        ("log_level", ""),
        ("log_format", "xml"),
        ("log_capture", "false"),
        ("attempts_keep", "-1"),
        ("attempts_keep", "inf"),
    ],
)
def test_a_value_that_cannot_be_is_refused_with_its_name(
    tmp_path: Path, name: str, text: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        worker(tmp_path, None, {name: text})
    assert name in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value", "kind"),
    [
        ("http_port", "many", "a whole number"),
        ("http_port", True, "a whole number"),
        ("max_wait", "soon", "a number"),
        ("upkeep", "perhaps", "true or false"),
        ("rate", 5, "a text"),
        ("redact", "password", "a list of texts"),
        ("redact", [1], "a list of texts"),
        ("log_format", "xml", "one of auto, pretty, plain, json"),
        ("log_level", 3, "one of debug, info, warning, error"),
    ],
)
def test_a_value_of_the_wrong_type_is_told_with_its_place(
    tmp_path: Path, name: str, value: object, kind: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        load(ServerSettings, "server", {name: value}, {}, tmp_path)
    flag = f"--{name.replace('_', '-')}"
    assert str(caught.value) == (
        f"A setting of server is wrong: {name} must be {kind}; correct it in {flag}."
    )


def test_a_refusal_does_not_show_what_may_be_a_secret(tmp_path: Path) -> None:
    write(tmp_path, '[history]\nurl = ["mysql://ada:geheim@host/db"]')
    with pytest.raises(
        ConfigError, match=r"url must be a text; .*windlass.toml \[history\]"
    ) as told:
        load(HistorySettings, "history", None, {}, tmp_path)
    assert "geheim" not in str(told.value)


@pytest.mark.parametrize(
    ("name", "text"), [("concurrency", "0"), ("concurrency", "many"), ("queues", "a,a")]
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
    with pytest.raises(ConfigError, match="name of a queue is a text of 1 to 128"):
        WorkerSettings(queues=("",))


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
        ({"child_max_jobs": -1}, "child_max_jobs must be 0 or more"),
        ({"child_max_memory": -1}, "child_max_memory must be 0 or more"),
        ({"child_idle": 0}, "child_idle must be above 0"),
        ({"child_start": 0}, "child_start must be above 0"),
    ],
)
def test_a_supervisor_cannot_have_less_than_nothing(given: dict[str, int], sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        WorkerSettings(**given)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [WorkerSettings, ServerSettings])
def test_a_word_that_nobody_knows_is_refused_in_code_too(kind: Any) -> None:
    with pytest.raises(ConfigError, match="log_level must be one of debug, info, warning, error"):
        kind(log_level="loud")


@pytest.mark.parametrize("name", ["processes", "max_jobs", "max_memory"])
def test_more_than_one_process_or_any_limit_needs_a_supervisor(name: str) -> None:
    assert not WorkerSettings().is_supervised
    assert WorkerSettings(**{name: 2}).is_supervised  # type: ignore[arg-type]


def test_every_value_is_explained_by_what_it_was_taken_from(tmp_path: Path) -> None:
    write(tmp_path, "[server]\nhttp_port = 1\ngrpc_port = 2\nmax_wait = 3\n")
    environ = {"WINDLASS_SERVER_GRPC_PORT": "4", "WINDLASS_SERVER_MAX_WAIT": "5"}
    settings = explain(ServerSettings, "server", {"max_wait": 6.0, "rate": None}, environ, tmp_path)
    assert [each.name for each in settings] == list(ServerSettings.__struct_fields__)
    told = {each.name: each for each in settings}
    assert told["http_port"] == Setting("http_port", 1, "windlass.toml [server]")
    assert told["grpc_port"] == Setting("grpc_port", 4, "WINDLASS_SERVER_GRPC_PORT")
    assert told["max_wait"] == Setting("max_wait", 6.0, "--max-wait")
    assert told["rate"] == Setting("rate", "", "default")


def test_the_shared_file_is_told_with_the_table_in_it(tmp_path: Path) -> None:
    write(tmp_path, "[tool.windlass.worker]\nlease = 5", "pyproject.toml")
    settings = explain(WorkerSettings, "worker", None, {}, tmp_path)
    assert Setting("lease", 5.0, "pyproject.toml [tool.windlass.worker]") in settings


@pytest.mark.parametrize(("section", "kind"), SECTIONS.items())
def test_what_is_explained_is_what_is_loaded(
    tmp_path: Path, section: str, kind: type[msgspec.Struct]
) -> None:
    environ = {"WINDLASS_WORKER_QUEUES": "a,b", "WINDLASS_HISTORY": "sqlite:///h.db"}
    write(tmp_path, "[server]\nupkeep = false\n[worker]\nlease = 9\n[history]\nkeep = 60")
    loaded = load(kind, section, None, environ, tmp_path)
    told = {each.name: each.value for each in explain(kind, section, None, environ, tmp_path)}
    assert told == msgspec.structs.asdict(loaded)


def test_what_cannot_be_loaded_cannot_be_explained(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="concurrency must be above 0"):
        explain(WorkerSettings, "worker", {"concurrency": 0}, {}, tmp_path)


def test_the_short_variable_of_history_wins_over_the_long_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WINDLASS_HISTORY_URL", "sqlite:///long.db")
    assert history_settings(None).url == "sqlite:///long.db"
    monkeypatch.setenv("WINDLASS_HISTORY", "")
    assert history_settings(None).url == "sqlite:///long.db"
    monkeypatch.setenv("WINDLASS_HISTORY", "sqlite:///short.db")
    assert history_settings(None).url == "sqlite:///short.db"
    told = explain(HistorySettings, "history")
    assert told[0] == Setting("url", "sqlite:///short.db", "WINDLASS_HISTORY")
    assert history_settings("sqlite:///given.db").url == "sqlite:///given.db"


def test_a_variable_that_nothing_reads_is_held_against_those_that_are() -> None:
    slips = {
        "WINDLASS_URI": "WINDLASS_URL",
        "WINDLASS_SEVER_HTTP_PORT": "WINDLASS_SERVER_HTTP_PORT",
        "WINDLASS_WORKERS_QUEUES": "WINDLASS_WORKER_QUEUES",
    }
    others = ("WINDLASS_URL", "WINDLASS_TETHER", "WINDLASS_REDIS_SERVICE_HOST", "SEVER_HOST")
    assert misspelt(dict.fromkeys([*slips, *others], "x")) == slips
