"""Job ids: the layout of UUIDv7, their order, and that no two are the same."""

import random
import re
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from windlass.core.ids import MAX_ID_LENGTH, checked_id, new_id
from windlass.errors import InvalidOption

TEXT = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


def milliseconds(id: str) -> int:
    return uuid.UUID(id).int >> 80


@contextmanager
def random_state_kept() -> Iterator[None]:
    state = random.getstate()
    try:
        yield
    finally:
        random.setstate(state)


def test_an_id_is_a_uuid_of_version_7() -> None:
    for _ in range(1_000):
        id = new_id()
        assert TEXT.fullmatch(id)
        parsed = uuid.UUID(id)
        assert (parsed.version, parsed.variant) == (7, uuid.RFC_4122)
        assert str(parsed) == id


def test_an_id_holds_the_moment_it_was_made() -> None:
    before = time.time_ns() // 1_000_000
    id = new_id()
    assert before <= milliseconds(id) <= time.time_ns() // 1_000_000


def test_ids_of_one_thread_sort_by_the_millisecond_they_were_made_in() -> None:
    ids: list[str] = []
    start = time.monotonic()
    while len({milliseconds(id) for id in ids}) < 20 and time.monotonic() - start < 10:
        ids.append(new_id())
    moments = [milliseconds(id) for id in ids]
    assert moments == sorted(moments)
    assert [milliseconds(id) for id in sorted(ids)] == moments
    assert len(set(moments)) == 20


def test_every_random_bit_takes_both_values() -> None:
    """A bit that never moves would be one that the layout does not have."""
    values = [uuid.UUID(new_id()).int for _ in range(300)]
    fixed = (0xF << 76) | (0b11 << 62)
    for bit in range(80):
        if not fixed >> bit & 1:
            assert {value >> bit & 1 for value in values} == {0, 1}, bit


def test_ids_of_many_threads_are_all_different() -> None:
    made: list[list[str]] = [[] for _ in range(8)]
    go = threading.Barrier(len(made))

    def make(ids: list[str]) -> None:
        go.wait()
        ids.extend(new_id() for _ in range(5_000))

    threads = [threading.Thread(target=make, args=(ids,)) for ids in made]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id for ids in made for id in ids}) == 8 * 5_000


FORKING = """
import os
from windlass.core.ids import new_id

new_id()
children = []
for _ in range(3):
    child = os.fork()
    if child == 0:
        break
    children.append(child)
os.write(1, "".join(new_id()[15:] + "\\n" for _ in range(100)).encode())
if child == 0:
    os._exit(0)
assert [os.waitpid(child, 0)[1] for child in children] == [0, 0, 0]
"""


def test_forked_children_make_other_ids_than_their_parent() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORKING], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    # Without the moment: the random part alone must differ.
    parts = done.stdout.split()
    assert len(parts) == len(set(parts)) == 400


def test_a_program_that_seeds_random_still_gets_different_ids() -> None:
    """Seeding is common in jobs that compute; an id that comes twice is a job that is lost."""
    ids = set()
    with random_state_kept():
        for _ in range(1_000):
            random.seed(42)
            ids.add(new_id())
    assert len(ids) == 1_000


UUID = "01890a5d-ac96-774b-bcce-b302099a8057"


@pytest.mark.parametrize("id", ["a", "order:42", "x" * MAX_ID_LENGTH, "Größe 5", UUID])
def test_a_client_may_give_its_own(id: str) -> None:
    assert checked_id(id) == id


@pytest.mark.parametrize("id", ["", "x" * (MAX_ID_LENGTH + 1), 42, None, b"x"])
def test_what_is_no_text_of_a_possible_length_is_refused(id: object) -> None:
    with pytest.raises(InvalidOption, match="text of 1 to 128 characters"):
        checked_id(id)  # type: ignore[arg-type]


@pytest.mark.parametrize("id", [" a", "a ", "a\nb", "a\0b", "\u200b", "a\ud800"])
def test_an_id_that_people_cannot_see_or_type_is_refused(id: str) -> None:
    with pytest.raises(InvalidOption, match="printable characters only"):
        checked_id(id)
