"""What may be in a job's arguments, and how much of it."""

import pytest

from windlass import Windlass
from windlass.errors import InvalidOption, PayloadTooLarge, UnencodableValue, UnknownScheme


async def test_arguments_above_the_limit_are_refused_and_nothing_is_written(url: str) -> None:
    app = Windlass(url, max_payload=1000)

    @app.task
    def take(data: bytes) -> None: ...

    await take.aenqueue(b"x" * 900)
    with pytest.raises(PayloadTooLarge, match=r"take 1,\d\d\d bytes, the limit is 1,000"):
        take.aenqueue(b"x" * 1000)
    with pytest.raises(PayloadTooLarge):
        app.aenqueue_many([take.call(b""), take.call(b"x" * 1000)])
    store = await app.client.store()
    assert sum((await store.queues())[0].counts.values()) == 1
    await app.aclose()


async def test_the_default_limit_is_one_mebibyte(app: Windlass) -> None:
    @app.task
    def take(data: bytes) -> None: ...

    await take.aenqueue(b"x" * (1024 * 1024 - 100))
    with pytest.raises(PayloadTooLarge):
        take.aenqueue(b"x" * 1024 * 1024)


async def test_an_argument_that_cannot_be_encoded_is_refused(app: Windlass) -> None:
    @app.task
    def take(name: str, thing: object) -> None: ...

    with pytest.raises(UnencodableValue, match="object"):
        take.aenqueue("x", object())
    assert await (await app.client.store()).queues() == []


@pytest.mark.parametrize("limit", [0, -1])
def test_the_limit_must_leave_room(limit: int) -> None:
    with pytest.raises(InvalidOption, match="max_payload"):
        Windlass("memory://", max_payload=limit)


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("sqlit:///x.db", "did you mean sqlite://?"),
        ("mongodb://host", "known are"),
        ("windlass.db", "has no scheme"),
    ],
)
def test_an_unknown_scheme_is_named(url: str, sentence: str) -> None:
    with pytest.raises(UnknownScheme) as caught:
        Windlass(url)
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("sqlite://", "A SQLite URL is sqlite:///file.db"),
        ("sqlite:///:memory:", "use memory://"),
        ("sqlite:///x.db?synchronous=off", "synchronous is normal or full"),
        ("sqlite:///x.db?sync=full", "Unknown setting sync"),
        ("sqlite:///x.db?busy_timeout=long", "busy_timeout in a SQLite URL must be a number"),
    ],
)
def test_a_wrong_sqlite_url_is_refused(url: str, sentence: str) -> None:
    app = Windlass(url)

    @app.task
    def send() -> None: ...

    with pytest.raises(InvalidOption) as caught:
        send.enqueue()
    assert sentence in str(caught.value)
