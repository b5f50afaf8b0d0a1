"""Which failures are the same fault."""

import pytest

from windlass.core.likeness import error_fingerprint, pattern
from windlass.core.model import Failure

TRACE = """Traceback (most recent call last):
  File "/srv/{release}/shop/orders.py", line {line}, in ship
    raise LookupError(id)
"""


def failure(message: str, kind: str = "LookupError", release: str = "v1", line: int = 7) -> Failure:
    return Failure(kind, message, TRACE.format(release=release, line=line))


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("order 17 is gone", "order … is gone"),
        ("took 3.25 s, not 1,000", "took … s, not …"),
        ("no file 'a b.txt' or \"c\"", "no file … or …"),
        ("<Thing at 0x7f3a2b>", "<Thing at …>"),
        ("job 0190a6e2-7b3c-7def-8123-456789abcdef died", "job … died"),
        ("digest deadbeefdeadbeef00 differs", "digest … differs"),
        ("at 12:30:59", "at …"),
        ("  first\nsecond 2", "first"),
        ("", ""),
        ("word", "word"),
    ],
)
def test_what_differs_by_chance_is_left_out(message: str, said: str) -> None:
    assert pattern(message) == said


def test_a_long_message_is_cut() -> None:
    assert len(pattern("x" * 10_000)) == 200


def test_failures_that_are_alike_have_one_fingerprint() -> None:
    first = error_fingerprint("ship", failure("order 17 is gone"))
    assert error_fingerprint("ship", failure("order 99 is gone")) == first
    assert error_fingerprint("ship", failure("order 1 is gone", release="v2", line=99)) == first
    assert len(first) == 16


def test_failures_that_are_not_alike_have_others() -> None:
    prints = {
        error_fingerprint("ship", failure("order 17 is gone")),
        error_fingerprint("send", failure("order 17 is gone")),
        error_fingerprint("ship", failure("order 17 is late")),
        error_fingerprint("ship", failure("order 17 is gone", kind="KeyError")),
        error_fingerprint("ship", Failure("LookupError", "order 17 is gone")),
    }
    assert len(prints) == 5


def test_the_last_frame_counts_and_folders_do_not() -> None:
    def deep(folder: str, last: str) -> Failure:
        trace = (
            f'  File "{folder}/a.py", line 1, in run\n  File "{folder}/b.py", line 2, in {last}\n'
        )
        return Failure("ValueError", "no", trace)

    first = error_fingerprint("x", deep("/srv", "inner"))
    assert error_fingerprint("x", deep("C:\\srv", "inner")) == first
    assert error_fingerprint("x", deep("/srv", "other")) != first
