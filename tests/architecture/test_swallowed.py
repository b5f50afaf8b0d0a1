"""No exception is swallowed without a reason: a comment says it, or a log does."""

import ast
from collections.abc import Iterator
from pathlib import Path

import windlass

SOURCE = Path(windlass.__file__).parent


PLAIN = {"TimeoutError", "asyncio.CancelledError", "ProcessLookupError", "BlockingIOError"}
"""What needs no reason: the time of a wait is up, a task that was cancelled has ended, a process
that is to be killed is gone, there is nothing more to read."""


def is_plain(caught: list[ast.expr]) -> bool:
    return bool(caught) and {ast.unparse(each) for each in caught} <= PLAIN


def is_silent(handler: ast.ExceptHandler) -> bool:
    """Whether it only passes over the exception."""
    return all(isinstance(step, ast.Pass | ast.Continue) for step in handler.body)


def name_of(called: ast.expr) -> str:
    """The last part of a dotted name; nothing for what has no name."""
    return getattr(called, "attr", "") or getattr(called, "id", "")


def unexplained(path: Path) -> Iterator[str]:
    text = path.read_text("utf-8")
    if "except" not in text and "suppress" not in text:
        return
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ExceptHandler) and is_silent(node):
            if is_plain([node.type] if node.type else []):
                continue
            around = lines[node.lineno - 1 : node.body[-1].end_lineno]
        elif isinstance(node, ast.Call) and name_of(node.func).endswith("suppress"):
            if is_plain(node.args):
                continue
            around = lines[node.lineno - 2 : node.lineno + 1]
        else:
            continue
        if not any("#" in line for line in around):
            yield f"{path.relative_to(SOURCE)}:{node.lineno}"


def test_every_swallowed_exception_has_a_reason() -> None:
    found = [place for path in sorted(SOURCE.rglob("*.py")) for place in unexplained(path)]
    assert found == []
