"""The scripts stay within what Lua allows."""

import re

import pytest

from tests.stores.redis.watch import script_names
from windlass.stores.redis.scripts import script

MOST_LOCALS = 180
"""Of the 200 that one function of Lua may have: a script is one."""


@pytest.mark.parametrize("name", script_names())
def test_no_script_has_nearly_too_many_locals(name: str) -> None:
    source = script(name).source.decode()
    found = 0
    for names in re.findall(r"^local (?!function)([^=\n]+)", source, re.MULTILINE):
        found += names.count(",") + 1
    found += len(re.findall(r"^local function", source, re.MULTILINE))
    assert 0 < found <= MOST_LOCALS
