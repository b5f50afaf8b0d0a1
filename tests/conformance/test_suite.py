"""Every check of the shipped suite, on every store.

The checks become tests of this module under the name of their theme, so that none can
hide another and a new theme is run as soon as its file exists.
"""

from pathlib import Path

from tests.conformance.stores import EXEMPT, MEASURED, STORES, THEMES_IN_FULL, brief_checks
from windlass.testing import suite

CHECKS = {f"test_{check.theme}_{check.name}": check for check in suite.checks()}

globals().update({name: check.function for name, check in CHECKS.items()})


def test_every_theme_is_run() -> None:
    files = {path.stem for path in Path(suite.__file__).parent.glob("*.py")} - {"__init__"}
    assert {check.theme for check in CHECKS.values()} == files == set(suite.themes())


def test_no_check_hides_another() -> None:
    assert len(CHECKS) == len(list(suite.checks()))


def test_checks_ask_for_nothing_that_a_runner_does_not_offer() -> None:
    for check in CHECKS.values():
        assert set(check.needs) <= {"store", "clock", "another_store"}, check


def test_exemptions_name_checks_and_stores() -> None:
    for store, check in EXEMPT:
        assert store in STORES
        assert f"test_{check}" in CHECKS


def test_variants_are_held_to_something_of_every_theme() -> None:
    assert {f"test_{check}" for check in brief_checks()} <= CHECKS.keys()
    assert {CHECKS[f"test_{check}"].theme for check in brief_checks()} == {*suite.themes()} - {
        MEASURED
    }
    assert set(THEMES_IN_FULL) <= set(suite.themes())
