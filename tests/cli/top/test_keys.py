"""What was typed, from the bytes that terminals send."""

import pytest

from windlass.cli.top.keys import Keys


@pytest.mark.parametrize(
    ("data", "names"),
    [
        (b"jG?", ["j", "G", "?"]),
        (b"\t\r\n\x7f\x08 ", ["tab", "enter", "enter", "backspace", "backspace", " "]),
        (b"\x1b[A\x1b[B\x1b[C\x1b[D", ["up", "down", "right", "left"]),
        (b"\x1bOA\x1bOH\x1bOF", ["up", "home", "end"]),
        (b"\x1b[5~\x1b[6~\x1b[1~\x1b[4~\x1b[7~", ["pageup", "pagedown", "home", "end", "home"]),
        (b"\x1b[Z\x1b[1;5A", ["backtab", "up"]),
        (b"\x03\x0c\x15", ["ctrl-c", "ctrl-l", "ctrl-u"]),
        ("ü漢".encode(), ["ü", "漢"]),
        (b"\x1bq", ["escape", "q"]),
    ],
)
def test_bytes_become_keys(data: bytes, names: list[str]) -> None:
    assert Keys().feed(data) == names


def test_a_key_whose_bytes_come_one_by_one_is_one_key() -> None:
    keys = Keys()
    assert [keys.feed(bytes([each])) for each in b"\x1b[5~"] == [[], [], [], ["pageup"]]
    assert [keys.feed(bytes([each])) for each in "ü".encode()] == [[], ["ü"]]
    assert not keys.is_pending


def test_an_escape_that_nothing_follows_is_the_escape_key() -> None:
    keys = Keys()
    assert keys.feed(b"\x1b") == [] and keys.is_pending
    assert keys.flush() == ["escape"] and not keys.is_pending
    assert keys.flush() == []


def test_what_stands_for_no_key_is_dropped() -> None:
    assert Keys().feed(b"\x1b[15~\x1b[<0;1;1M\x1b[200~\x00\x01a") == ["a"]


def test_what_only_looks_like_a_sequence_does_not_hold_up_the_keys_behind_it() -> None:
    keys = Keys()
    assert "q" in keys.feed(b"\x1b[" + b"1" * 100 + b"\x07q")
    assert not keys.is_pending
