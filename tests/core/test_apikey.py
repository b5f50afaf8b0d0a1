"""API keys: made, told apart, and worth what their roles say."""

import hmac
from collections.abc import Sequence

import pytest

from windlass.core import apikey
from windlass.core.apikey import IMPLIED, ApiKey, Role, checked_role, matching, new_key
from windlass.errors import InvalidOption

NOW = 1_750_000_000_000


def test_a_key_is_known_by_its_text_alone() -> None:
    made, other = new_key(["read"], now=NOW), new_key(["read"], now=NOW)
    keys = {each.key.id: each.key for each in (made, other)}
    assert matching(keys, made.text, NOW) == made.key
    assert matching(keys, other.text, NOW) == other.key


def test_a_key_does_not_have_its_secret_in_it() -> None:
    made = new_key(["read"], name="Ada")
    secret = made.text.split("_", 2)[2]
    assert secret not in repr(made.key)
    assert len(made.key.digest) == 32


@pytest.mark.parametrize("change", [-1, 0, 10, 20, 40])
def test_another_secret_under_a_known_id_is_wrong(change: int) -> None:
    made = new_key(["read"])
    place = len("wl_" + made.key.id + "_") + change if change >= 0 else len(made.text) - 1
    # The last character has bits that count for nothing, but the text must be the same.
    other = "B" if made.text[place] == "A" else "A"
    text = made.text[:place] + other + made.text[place + 1 :]
    assert matching({made.key.id: made.key}, text, NOW) is None


@pytest.mark.parametrize(
    "text",
    ["", "wl_", "wl__", "wl_aaaaaaaaaaaa_", "nonsense", "wl_aaaaaaaaaaaa_" + "a" * 44, "é" * 60],
)
def test_what_does_not_look_like_a_key_is_none(text: str) -> None:
    made = new_key(["read"])
    assert matching({made.key.id: made.key}, text, NOW) is None
    assert matching({made.key.id: made.key}, made.text + "\n", NOW) is None


def test_a_secret_is_compared_in_constant_time_whether_or_not_the_id_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made, stranger = new_key(["read"]), new_key(["read"])
    compared: list[tuple[bytes, bytes]] = []

    def compare(first: bytes, second: bytes) -> bool:
        compared.append((first, second))
        return first == second

    monkeypatch.setattr(apikey, "compare_digest", compare)
    assert matching({made.key.id: made.key}, made.text, NOW) == made.key
    assert matching({made.key.id: made.key}, stranger.text, NOW) is None
    assert [len(first) == len(second) == 32 for first, second in compared] == [True, True]


def test_comparison_is_that_of_the_standard_library() -> None:
    assert vars(apikey)["compare_digest"] is hmac.compare_digest


def test_a_key_ends_at_its_moment() -> None:
    made = new_key(["read"], now=NOW, expires_in=1_000)
    keys = {made.key.id: made.key}
    assert matching(keys, made.text, NOW + 999) == made.key
    assert matching(keys, made.text, NOW + 1_000) is None


@pytest.mark.parametrize(
    ("roles", "allows"),
    [
        (["read"], {"read"}),
        (["operate"], {"operate", "read"}),
        (["enqueue", "work"], {"enqueue", "work"}),
        (["admin"], {*Role}),
    ],
)
def test_roles_imply_others(roles: Sequence[str], allows: set[str]) -> None:
    assert new_key(roles).key.allows == allows
    assert {*IMPLIED} == {*Role}


def test_what_no_key_can_be_is_refused() -> None:
    with pytest.raises(InvalidOption, match="A key needs a role"):
        new_key([])
    with pytest.raises(InvalidOption, match="A role is one of read, enqueue"):
        new_key(["root"])
    with pytest.raises(InvalidOption, match="cannot be bound to queues"):
        new_key(["admin"], ["mail"])
    with pytest.raises(InvalidOption, match="name of a queue"):
        new_key(["read"], [" mail"])
    with pytest.raises(InvalidOption, match="name of a key"):
        new_key(["read"], name="a\nb")
    assert checked_role("read") is Role.READ


def test_names_and_roles_are_kept_once() -> None:
    key = new_key(["read", "read", "work"], ["b", "a", "b"], "Ada", now=5, expires_in=6).key
    assert key == ApiKey(key.id, key.digest, (Role.READ, Role.WORK), ("b", "a"), "Ada", 5, 11)
