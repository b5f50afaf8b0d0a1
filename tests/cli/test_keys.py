"""`windlass keys`: made once, listed without their secrets, revoked."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.cli.conftest import Call
from tests.cli.program import Program
from tests.cli.test_faults import misused, refused
from windlass import Windlass
from windlass.core.apikey import ApiKey, Role, matching
from windlass.core.clock import system_clock

KEY = re.compile(r"wl_([a-z0-9]{12})_([A-Za-z0-9_-]{43})")


def stored(app: Windlass) -> Mapping[str, ApiKey]:
    """What the store has."""
    keys: Sequence[ApiKey] = app.client.block(lambda store: store.keys(), "", "")
    app.close()
    return {key.id: key for key in keys}


def put(app: Windlass, *keys: ApiKey) -> None:
    app.client.block(lambda store: store.put_keys(keys), "", "")
    app.close()


def test_a_new_key_is_all_that_is_printed_and_the_store_knows_it_by_its_hash(
    program: Program,
) -> None:
    words = ["--role", "read", "--role", "enqueue", "-q", "mail", "--name", "Ada's shop"]
    done = program("keys", "create", *words, "--expires", "90d")
    assert done.returncode == 0, done.stderr
    text = done.stdout.removesuffix("\n")
    found = KEY.fullmatch(text)
    assert found
    id, secret = found.groups()
    assert done.stderr.startswith(f"Key {id} for read, enqueue on the queues mail, until 2")
    assert done.stderr.endswith("Z. Keep it: it is not shown again.\n")
    assert secret not in done.stderr

    keys = stored(Windlass(program.url))
    now = system_clock()
    assert list(keys) == [id]
    key = keys[id]
    assert (key.roles, key.queues, key.name) == ((Role.READ, Role.ENQUEUE), ("mail",), "Ada's shop")
    assert abs(now - key.created_at) < 60_000
    assert key.expires_at == key.created_at + 90 * 86_400_000
    assert matching(keys, text, now) == key
    assert secret.encode() not in Path(program.folder / "jobs.db").read_bytes()


def test_programs_get_the_key_with_what_it_is_for(call: Call, app: Windlass) -> None:
    made = json.loads(call("keys", "create", "--role", "admin", "--json").stdout)
    found = KEY.fullmatch(made.pop("key"))
    assert found
    assert made.pop("created_at") > "2025"
    assert made == {
        "id": found[1],
        "name": "",
        "roles": ["admin"],
        "queues": [],
        "expires_at": None,
    }
    assert list(stored(app)) == [found[1]]


def test_a_key_for_everything_says_so(call: Call) -> None:
    said = call("keys", "create", "--role", "admin").stderr
    assert "for admin on all queues. Keep it" in said


def test_keys_are_listed_without_their_hashes(call: Call, app: Windlass) -> None:
    now = system_clock()
    put(
        app,
        ApiKey("aaaaaaaaaaaa", b"\xaa" * 32, (Role.ADMIN,), created_at=now - 180_500),
        ApiKey(
            "bbbbbbbbbbbb",
            b"\xbb" * 32,
            (Role.READ, Role.WORK),
            ("mail", "slow"),
            "shop",
            now - 7_200_500,
            now + 90_500,
        ),
    )
    head, first, second = call("keys", "list").stdout.splitlines()
    assert head.split() == ["id", "name", "roles", "queues", "created", "expires"]
    assert first.split() == ["aaaaaaaaaaaa", "admin", "*", "3", "min", "ago", "never"]
    assert second.split()[:7] == ["bbbbbbbbbbbb", "shop", "read,work", "mail,slow", "2", "h", "ago"]
    assert second.split()[7:] == ["in", "1", "min"]

    records = json.loads(call("keys", "list", "--json").stdout)
    assert [record["id"] for record in records] == ["aaaaaaaaaaaa", "bbbbbbbbbbbb"]
    assert records[0].keys() == {"id", "name", "roles", "queues", "created_at", "expires_at"}
    assert records[0]["expires_at"] is None
    assert records[1]["expires_at"].endswith("Z")
    assert records[1]["queues"] == ["mail", "slow"]


def test_no_keys_are_said_in_words_and_are_an_empty_list_in_json(call: Call, url: str) -> None:
    call("migrate")
    assert call("keys", "list").stdout == f"There are no keys in {url}.\n"
    assert json.loads(call("keys", "list", "--json").stdout) == []


def create(call: Call) -> tuple[str, str]:
    """The id of a new key, and the key."""
    text = call("keys", "create", "--role", "read").stdout.strip()
    found = KEY.fullmatch(text)
    assert found
    return found[1], text


def test_a_revoked_key_is_gone_and_the_others_stay(call: Call, app: Windlass) -> None:
    (first, _), (second, _), (third, _) = create(call), create(call), create(call)
    result = call("keys", "revoke", first, third, first)
    assert (result.exit_code, result.stdout) == (0, f"Revoked {first}, {third}.\n")
    assert list(stored(app)) == [second]


def test_a_whole_key_can_be_revoked_and_its_secret_is_not_repeated(
    call: Call, app: Windlass
) -> None:
    id, text = create(call)
    assert call("keys", "revoke", text).stdout == f"Revoked {id}.\n"
    assert stored(app) == {}
    assert refused(call("keys", "revoke", text), code=3) == f"There is no key {id}."


def test_an_unknown_key_exits_with_3_and_the_rest_is_revoked(call: Call, app: Windlass) -> None:
    id, _ = create(call)
    result = call("keys", "revoke", "nobody", id)
    assert (result.exit_code, result.stdout) == (3, f"Revoked {id}.\n")
    assert result.stderr == "windlass: There is no key nobody.\n"
    assert stored(app) == {}
    result = call("keys", "revoke", "nobody", "--json")
    assert result.exit_code == 3
    assert json.loads(result.stdout) == {
        "count": 0,
        "ids": [],
        "refused": {"nobody": "There is no key nobody."},
    }


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--queue", "mail", "--role", "admin"], "An admin key is for everything"),
        (["--role", "read", "--name", " x"], "The name of a key has printable characters only"),
        (["--role", "read", "--expires", "0"], "expires must be above 0."),
        (["--role", "read", "--expires", "1e300"], "expires is at most 100 years."),
    ],
)
def test_a_key_that_cannot_be_is_refused_before_the_store_is_opened(
    call: Call, tmp_path: Path, words: list[str], sentence: str
) -> None:
    assert refused(call("keys", "create", *words)).startswith(sentence)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["create"], "Say what the key is for: --role read, enqueue, work, "),
        (["create", "--role", "boss"], "'boss' is not one of 'read', 'enqueue', 'work'"),
        (["create", "--role", "read", "-q", ""], "The name is a text of 1 to 128 characters"),
        (["create", "--role", "read", "--expires", "soon"], "'soon' is not a duration as 90"),
        (["revoke"], "Missing argument 'ID...'"),
        (["revoke", "\udcff"], "The id of a key has printable characters only"),
        (["revoke", "wl__secret"], "The id of a key is a text of 1 to 128 characters"),
        (["revok", "a"], "There is no command keys revok: did you mean revoke?"),
    ],
)
def test_a_command_that_is_not_written_right_exits_with_2(
    call: Call, tmp_path: Path, words: list[str], sentence: str
) -> None:
    assert sentence in misused(call("keys", *words))
    assert list(tmp_path.iterdir()) == []
