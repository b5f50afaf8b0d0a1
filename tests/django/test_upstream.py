"""What Django's own tests ask of a backend for tasks, with the one of Windlass in its place.

They come from the package index, into a temporary folder. Where Django has no tasks of its own they
are asked of `django-tasks`, in which the same names are elsewhere.
"""

import os
import re
import subprocess
import sys
import tarfile
from importlib.util import find_spec
from pathlib import Path

import pytest

HARNESS = """
from windlass.django.tasks import WindlassBackend
from windlass.django.testing import enqueued, forget

class Backend(WindlassBackend):
    def clear(self):
        forget()

    @property
    def results(self):
        return [self.get_result(job.id) for job in enqueued()]
"""

SETTINGS = """
SECRET_KEY = "only here"
USE_TZ = True
INSTALLED_APPS = ["windlass.django", "tasks"]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}
WINDLASS = {"URL": "memory://", "TRANSACTION": False, "TESTING": "%s"}
"""

DJANGO = "django>=6.1,<6.2"

COLLECT, IMMEDIATE = "collect", "immediate"

RUN_AT_ONCE = ("test_task_error_invalid_exception", "test_task_error_unknown_module")
"""Those of `test_tasks` whose tasks go to a backend that runs them at once."""

CANNOT = ("test_cannot_get_result", "test_cannot_pass_run_after", "test_cannot_refresh_result")
"""Say what Django's immediate backend cannot; this one can."""

BLOCKING = ("test_get_missing_result", "test_refresh_result", "test_enqueue_task_async")
"""Call in an event loop what would block it, which Windlass refuses as databases of Django do."""

NEWER = (
    "test_pickle_task",
    "test_pickle_task_result",
    "test_unpickle_arbitrary_string",
    "test_unpickle_non_task_object",
    "test_run_after_in_decorator",
)
"""Ask for what only Django 6.1 has."""


@pytest.fixture(scope="module")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with Django's tests of tasks, made ready for this backend."""
    folder = tmp_path_factory.mktemp("upstream")
    options = ("--quiet", "--disable-pip-version-check", "--no-deps", "--no-binary=django")
    fetched = subprocess.run(
        [sys.executable, "-m", "pip", "download", *options, "--ignore-requires-python", DJANGO],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert fetched.returncode == 0, fetched.stderr
    (package,) = folder.glob("*.tar.gz")
    with tarfile.open(package) as archive:
        for member in archive.getmembers():
            if re.fullmatch(r"[^/]+/tests/tasks/\w+\.py", member.name):
                member.name = f"tasks/{Path(member.name).name}"
                archive.extract(member, folder, filter="data")
    (folder / "harness.py").write_text(HARNESS)
    for file in (folder / "tasks").glob("*.py"):
        text = re.sub(
            r"django\.tasks\.backends\.\w+\.(Dummy|Immediate)Backend",
            "harness.Backend",
            file.read_text(),
        )
        text = re.sub(
            r"from django\.tasks\.backends\.\w+ import (Dummy|Immediate)Backend",
            r"from harness import Backend as \1Backend",
            text,
        )
        file.write_text(text if find_spec("django.tasks") else _for_the_backport(text))
    return folder


def _for_the_backport(text: str) -> str:
    text = text.replace("django.tasks", "django_tasks").replace("async Tasks.", "async tasks.")
    text = re.sub(r"from django_tasks\.base import (.*)", r"from django_tasks.base import \1", text)
    return re.sub(r"\bInvalidTask(Backend)?\b", r"InvalidTask\1Error", text)


def test_the_tests_of_django_pass(upstream: Path) -> None:
    # One test, for the package is large and each process of pytest would fetch it.
    _passes(upstream, COLLECT, "tasks.test_tasks", (*RUN_AT_ONCE, *BLOCKING))
    _passes(upstream, IMMEDIATE, "tasks.test_immediate_backend", CANNOT)


def _passes(upstream: Path, mode: str, module: str, left_out: tuple[str, ...]) -> None:
    (upstream / f"{mode}.py").write_text(SETTINGS % mode)
    without = left_out if find_spec("django.tasks") else (*left_out, *NEWER)
    done = subprocess.run(
        [sys.executable, "-m", "django", "test", module],
        cwd=upstream,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": mode, "PYTHONPATH": str(upstream)},
        capture_output=True,
        text=True,
        check=False,
    )
    failed = re.findall(r"^(?:FAIL|ERROR): (\w+)", done.stderr, re.MULTILINE)
    (ran,) = re.findall(r"^Ran (\d+) tests", done.stderr, re.MULTILINE)
    assert int(ran) - len(set(failed)) >= 15
    assert not set(failed) - set(without), done.stderr
