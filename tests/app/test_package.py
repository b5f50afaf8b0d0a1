"""What `import windlass` gives, and what it does not cost."""

import ast
import inspect
import subprocess
import sys

import pytest

import windlass


def test_type_checkers_and_the_interpreter_see_the_same_names() -> None:
    tree = ast.parse(inspect.getsource(windlass))
    checked = {
        alias.name: node.module
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert checked == windlass._HOMES
    assert sorted(checked) == sorted(windlass.__all__)


@pytest.mark.parametrize("name", windlass.__all__)
def test_every_name_can_be_imported(name: str) -> None:
    assert getattr(windlass, name).__name__ == name


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Windlas'"):
        _ = windlass.Windlas


def test_importing_the_package_imports_nothing_of_it() -> None:
    code = "import sys, windlass; print([name for name in sys.modules if 'windlass.' in name])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
