"""What the pages say of gRPC is what the server and the example do."""

import re

import pytest

from tests.docs.pages import ROOT, blocks, page, table
from tests.server.grpc.node import EXAMPLE
from windlass.server.grpc.gate import CODES
from windlass.server.grpc.rules import RULES

REFERENCE = "docs/reference/grpc.md"
HOWTO = "docs/howto/other-languages.md"


def test_the_reference_has_every_method_and_its_role() -> None:
    rows = table(page(REFERENCE), "## Methods")
    listed = {f"windlass.v1.{row[0].strip('`')}": row[1].strip("`") for row in rows}
    assert listed == {name: rule for name, rule in RULES.items() if name in listed}
    assert {name for name in RULES if name.startswith("windlass.")} == {*listed}


def test_the_statuses_are_real_ones() -> None:
    rows = table(page(REFERENCE), "## Statuses")
    assert {row[0].strip("`") for row in rows} < {code.name for code in CODES.values()}


PROGRAMS = ("worker.mjs", "http_worker.mjs")


def test_the_code_that_is_shown_is_that_of_an_example() -> None:
    examples = [(EXAMPLE / name).read_text("utf-8") for name in PROGRAMS]
    shown = [block for block in blocks(ROOT / HOWTO) if block.language == "js"]
    assert len(shown) > 3
    for block in shown:
        assert any(block.text in example for example in examples), f"{HOWTO}:{block.line}"


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_example_is_as_short_as_it_is_said_to_be(name: str) -> None:
    example = (EXAMPLE / name).read_text("utf-8")
    code = [line for line in example.splitlines() if line.strip() and not line.startswith("//")]
    assert len(code) < 100


def test_every_bound_that_is_named_is_a_setting() -> None:
    section = page(REFERENCE).partition("## Bounds")[2]
    settings = page("docs/reference/settings.md")
    for name in re.findall(r"`([a-z_]+)`", section):
        assert f"| `{name}` |" in settings
