"""Each alert fires when it should, is silent when it should be, and says what to do."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.monitoring.files import ALERTS, CONFIG, PROMETHEUS, alerts, load, promtool

RULES = Path(__file__).with_name("rules")
NAMES = [alert["alert"] for alert in alerts()]
EACH = pytest.mark.parametrize("alert", alerts(), ids=NAMES)


def cases(name: str) -> Path:
    """The file with the tests of an alert, as in no_worker.yml."""
    words = re.findall("[A-Z][a-z]+", name.removeprefix("Windlass"))
    return RULES / f"{'_'.join(words).lower()}.yml"


def test_the_rules_are_valid() -> None:
    done = promtool("check", "rules", "--lint-fatal", ALERTS)
    assert done.returncode == 0, done.stderr


def test_the_configuration_is_valid_and_has_the_rules(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.touch()
    (secret,) = re.findall(r"credentials_file: (\S+)", CONFIG.read_text("utf-8"))
    for path in PROMETHEUS.iterdir():
        text = path.read_text("utf-8").replace(secret, str(key))
        (tmp_path / path.name).write_text(text, "utf-8")
    done = promtool("check", "config", tmp_path / CONFIG.name)
    assert done.returncode == 0, done.stderr
    assert f"{len(NAMES)} rules found" in done.stdout


@EACH
def test_it_fires_and_is_silent_as_its_cases_say(alert: dict[str, Any]) -> None:
    done = promtool("test", "rules", cases(alert["alert"]))
    assert done.returncode == 0, done.stdout + done.stderr


@EACH
def test_its_cases_have_both(alert: dict[str, Any]) -> None:
    path = cases(alert["alert"])
    asked = [
        bool(found["exp_samples"])
        for case in load(path)["tests"]
        for found in case.get("promql_expr_test", [])
        if f'alertname="{alert["alert"]}", alertstate="firing"' in found["expr"]
    ]
    assert {True, False} == set(asked)


def test_a_rule_that_is_wrong_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "rules").mkdir()
    for source, wrong in (("== 0", "== 2"), ("for: 2m", "for: 20m")):
        text = ALERTS.read_text("utf-8").replace(source, wrong)
        (tmp_path / "alerts.yml").write_text(text, "utf-8")
        case = cases("WindlassTargetDown").read_text("utf-8")
        changed = case.replace("../../../deploy/prometheus/alerts.yml", "../alerts.yml")
        (tmp_path / "rules" / "case.yml").write_text(changed, "utf-8")
        done = promtool("test", "rules", tmp_path / "rules" / "case.yml")
        assert done.returncode == 1, wrong


@EACH
def test_it_says_what_is_wrong_what_to_do_and_how_bad_it_is(alert: dict[str, Any]) -> None:
    assert alert["labels"]["severity"] in ("warning", "critical")
    assert alert["annotations"].keys() == {"summary", "description"}
    assert alert["annotations"]["summary"].endswith(".")
    assert len(alert["annotations"]["description"].split()) > 20
