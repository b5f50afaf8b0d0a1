"""The Lua scripts: each in its own file, with the shared pieces that it asks for put before it.

A line `-- define: NAME text` stands for the text wherever the name is. A local would cost more:
each function that uses one looks it up on the stack at every call of the script.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from hashlib import sha1
from importlib.resources import files
from typing import NamedTuple

DEFINE = re.compile(r"^-- define: (\w+) (.+)$", re.MULTILINE)
INCLUDE = re.compile(r"^-- include: (.+)$", re.MULTILINE)


class Script(NamedTuple):
    """A script and the digest that Redis knows it by."""

    name: str
    source: bytes
    sha: bytes


@cache
def texts() -> Mapping[str, str]:
    """All files, by their path without `.lua`, read once.

    A store reads them when it is opened: later, no file may be left to open.
    """
    folder, found = files(__package__) / "lua", {}
    for prefix, place in (("", folder), ("shared/", folder / "shared")):
        for file in place.iterdir():
            if file.name.endswith(".lua"):
                found[prefix + file.name.removesuffix(".lua")] = file.read_text("utf-8")
    return found


@cache
def script(name: str) -> Script:
    """The script in `lua/NAME.lua`; its header stays in the source that Redis gets."""
    text = texts()[name]
    included = INCLUDE.search(text)
    pieces = included.group(1).split() if included else []
    shared = [texts()[f"shared/{piece}"] for piece in pieces]
    source = _expanded("\n".join([*shared, text])).encode()
    return Script(name, source, sha1(source).hexdigest().encode())


def _expanded(text: str) -> str:
    meanings = dict(DEFINE.findall(text))
    text = DEFINE.sub("", text)
    if not meanings:
        return text
    word = re.compile(rf"\b({'|'.join(meanings)})\b")
    # What a name stands for may have names in it.
    while (expanded := word.sub(lambda found: meanings[found[1]], text)) != text:
        text = expanded
    return text
