"""What the pages say of gRPC is what the server and the example do."""

import re

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


def test_the_code_that_is_shown_is_that_of_the_example() -> None:
    example = (EXAMPLE / "worker.mjs").read_text("utf-8")
    shown = [block for block in blocks(ROOT / HOWTO) if block.language == "js"]
    assert len(shown) > 3
    for block in shown:
        assert block.text in example, f"{HOWTO}:{block.line}"


def test_the_example_is_as_short_as_it_is_said_to_be() -> None:
    example = (EXAMPLE / "worker.mjs").read_text("utf-8")
    code = [line for line in example.splitlines() if line.strip() and not line.startswith("//")]
    assert len(code) < 100


def test_every_bound_that_is_named_is_a_setting() -> None:
    section = page(REFERENCE).partition("## Bounds")[2]
    settings = page("docs/reference/settings.md")
    for name in re.findall(r"`([a-z_]+)`", section):
        assert f"| `{name}` |" in settings
