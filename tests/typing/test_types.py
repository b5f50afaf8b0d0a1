"""The types that users see, under mypy and pyright, both strict.

Each file in `cases/` has right calls, and wrong ones with `# expect: CODES / RULES`: the
codes that mypy gives for that line, then the rules that pyright gives. All other lines
must be clean. The first line of a case keeps `make check` away from its faults; it is
taken out here.
"""

import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CASES = Path(__file__).parent / "cases"
SHIELD = "# mypy: ignore-errors\n"
EXPECT = re.compile(r"# expect: ([a-z -]*?) ?/ ?([A-Za-z ]*)$")

Findings = dict[str, dict[int, list[str]]]
"""By file and line: the sorted codes of what was found there."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The cases without their shields; lines keep their numbers."""
    folder = tmp_path_factory.mktemp("typing")
    for case in CASES.glob("*.py"):
        text = case.read_text("utf-8")
        assert text.startswith(SHIELD), f"{case.name} must begin with {SHIELD!r}"
        (folder / case.name).write_text("\n" + text.removeprefix(SHIELD), "utf-8")
    return folder


def expected(group: int) -> Findings:
    found: Findings = {}
    for case in CASES.glob("*.py"):
        found[case.name] = {}
        for number, line in enumerate(case.read_text("utf-8").splitlines(), 1):
            match = EXPECT.search(line)
            assert match or "# expect" not in line, f"{case.name}:{number} cannot be read"
            if match and match[group]:
                found[case.name][number] = sorted(match[group].split())
    return found


def collected(errors: list[tuple[str, int, str]]) -> Findings:
    found: Findings = {case.name: {} for case in CASES.glob("*.py")}
    codes = defaultdict[tuple[str, int], set[str]](set)
    for file, line, code in errors:
        codes[file, line].add(code)
    for (file, line), here in codes.items():
        found.setdefault(file, {})[line] = sorted(here)
    return found


def run(command: list[str], cwd: Path) -> str:
    environ = os.environ | {"MYPYPATH": str(ROOT / "src")}
    done = subprocess.run(command, cwd=cwd, env=environ, capture_output=True, text=True)
    # 1 says that there are errors, which there should be.
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout


def test_mypy_accepts_right_calls_and_refuses_wrong_ones(folder: Path) -> None:
    places = (f"--cache-dir={ROOT / '.mypy_cache' / 'typing'}", f"--config-file={os.devnull}")
    output = run([sys.executable, "-m", "mypy", "--strict", "--output=json", *places, "."], folder)
    found = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    errors = [each for each in found if each["severity"] == "error"]
    assert errors, output
    assert collected([(e["file"], e["line"], e["code"]) for e in errors]) == expected(1)


def test_pyright_accepts_right_calls_and_refuses_wrong_ones(folder: Path) -> None:
    settings = {
        "typeCheckingMode": "strict",
        "extraPaths": [str(ROOT / "src")],
        "include": ["*.py"],
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    output = run(
        [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable],
        folder,
    )
    found = json.loads(output)["generalDiagnostics"]
    assert found, output
    assert collected(
        [
            (Path(each["file"]).name, each["range"]["start"]["line"] + 1, each["rule"])
            for each in found
            if each["severity"] == "error"
        ]
    ) == expected(2)
