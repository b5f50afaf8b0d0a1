"""A caller refuses the arguments that a worker would refuse, and no others."""

import enum
from collections.abc import (
    Collection,
    Iterable,
    Mapping,
    MutableMapping,
    MutableSequence,
    Sequence,
)
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Annotated, Any, Literal, NewType, Optional, TypedDict
from uuid import UUID

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from windlass.core.arguments import Arguments
from windlass.core.batch import ItemArguments
from windlass.core.codec import JSON, MSGPACK, Codec, decode_call, encode_call, refuse_misfits
from windlass.core.context import Context
from windlass.errors import CorruptRecord, InvalidArguments, UnencodableValue
from windlass.resources import Depends, Need, Resource


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Rights(enum.Flag):
    READ = 1
    WRITE = 2


@dataclass
class Address:
    street: str
    number: int = 1
    tags: list[str] = field(default_factory=list)


class Point(msgspec.Struct):
    x: float
    y: float = 0.0


class User(BaseModel):
    name: str
    age: int = 0


class Movie(TypedDict, total=False):
    title: str
    year: int


class Protocol:
    """Of which nobody knows how it is built."""


UserId = NewType("UserId", int)
Names = NewType("Names", list[str])

KINDS: list[Any] = [
    int,
    str,
    float,
    bool,
    bytes,
    None,
    datetime,
    date,
    time,
    timedelta,
    Decimal,
    UUID,
    list,
    dict,
    tuple,
    set,
    Any,
    object,
    list[int],
    list[str | None],
    list[float],
    list[Address],
    list[list[int]],
    list[Any],
    dict[str, int],
    dict[int, str],
    dict[str, Any],
    dict[str, list[int]],
    dict[Any, Any],
    tuple[int, str],
    tuple[int, ...],
    tuple[()],
    set[int],
    frozenset[str],
    Sequence[int],
    MutableSequence[str],
    Collection[int],
    Iterable[int],
    Mapping[str, int],
    MutableMapping[str, Any],
    float | None,
    tuple[float, str | None],
    tuple[Any, int],
    Optional[int],  # noqa: UP045 - as people write it
    int | str,
    int | None,
    list[int] | None,
    Literal["a", "b"],
    Literal[1, 2, None],
    UserId,
    Names,
    Annotated[int, msgspec.Meta(ge=1)],
    Annotated[str, msgspec.Meta(max_length=2)],
    Colour,
    Level,
    Rights,
    Address,
    Point,
    User,
    Movie,
    Protocol,
    "NotThere",
]

VALUES: list[Any] = [
    None,
    True,
    False,
    0,
    1,
    2,
    -1,
    2**70,
    1.0,
    1.5,
    "",
    "a",
    "abc",
    "red",
    "1",
    "2020-01-01",
    "aGk=",
    b"hi",
    [],
    [1],
    [1, 2],
    [1.0, 2],
    ["a"],
    ["a", None],
    [[1], [2]],
    [["a"]],
    (),
    (1,),
    (1, "a"),
    (1, 1),
    {1, 2},
    frozenset("ab"),
    {},
    {"a": 1},
    {"a": "1"},
    {"a": [1]},
    {"a": ["x"]},
    {1: "a"},
    {"1": "a"},
    {"title": "x", "year": 1},
    {"title": 1},
    {"street": "x"},
    {"street": 1},
    {"name": "x", "age": "3"},
    datetime(2020, 1, 1, tzinfo=UTC),
    datetime(2020, 1, 1),
    date(2020, 1, 1),
    time(1, 2),
    timedelta(1),
    timedelta(days=-1, microseconds=1),
    timedelta.max,
    timedelta.min,
    time(1, 2, tzinfo=UTC),
    Decimal("1.5"),
    Decimal("-Infinity"),
    Decimal("NaN"),
    Decimal("sNaN"),
    Decimal("1e999999"),
    Decimal(10) ** 50,
    10**400,
    2**53 + 1,
    (1.0, None),
    ({"a": 1}, 1),
    UUID(int=1),
    Colour.RED,
    Level.HIGH,
    Rights.READ,
    Rights.READ | Rights.WRITE,
    Address("x"),
    Address(1),  # type: ignore[arg-type]
    Address("x", tags=[1]),  # type: ignore[list-item]
    Point(1.0),
    Point("x"),  # type: ignore[arg-type]
    User(name="x"),
    {"name": 3},
]


def taking(kind: Any, form: str) -> Arguments:
    """Of a function that takes one value of this type, in one of several ways."""
    if form == "positional":

        def func(value): ...  # type: ignore[no-untyped-def]
    elif form == "rest":

        def func(*value): ...  # type: ignore[no-untyped-def,misc]
    elif form == "named":

        def func(*, value): ...  # type: ignore[no-untyped-def,misc]
    else:

        def func(**value): ...  # type: ignore[no-untyped-def,misc]

    func.__annotations__["value"] = kind
    return Arguments.of(func)


def worker_takes(arguments: Arguments, codec: Codec, payload: bytes) -> bool:
    args, kwargs = decode_call(codec, payload)
    try:
        arguments.check(args, kwargs)
        arguments.convert(args, kwargs, binary=codec.binary)
    except InvalidArguments:
        return False
    return True


def caller_takes(
    arguments: Arguments, codec: Codec, args: Any, kwargs: Any, payload: bytes
) -> bool:
    try:
        if not arguments.fits(args, kwargs):
            refuse_misfits(arguments, codec, payload)
    except InvalidArguments:
        return False
    return True


def agrees(kind: Any, form: str, codec: Codec, value: Any) -> None:
    args, kwargs = ((), {"value": value}) if form in ("named", "others") else ((value,), {})
    try:
        payload = encode_call(codec, args, kwargs)
    except UnencodableValue:
        return
    try:
        taken = worker_takes(taking(kind, form), codec, payload)
    except CorruptRecord:
        return
    assert caller_takes(taking(kind, form), codec, args, kwargs, payload) is taken


@pytest.mark.parametrize("codec", [MSGPACK, JSON], ids=lambda codec: codec.name)
@pytest.mark.parametrize("form", ["positional", "rest", "named", "others"])
def test_a_caller_refuses_what_a_worker_would_and_nothing_else(codec: Codec, form: str) -> None:
    for kind in KINDS:
        for value in VALUES:
            agrees(kind, form, codec, value)


plain = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False),
    st.text(max_size=3),
    st.binary(max_size=3),
    st.dates(),
    st.uuids(),
    st.decimals(),
    st.timedeltas(),
    st.times(),
    st.datetimes(timezones=st.sampled_from([None, UTC])),
)
any_value = st.recursive(
    plain,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.tuples(inner, inner),
        st.dictionaries(st.text(max_size=2), inner, max_size=3),
        st.dictionaries(st.integers(0, 9), inner, max_size=2),
    ),
    max_leaves=5,
)


@given(st.sampled_from(KINDS), st.sampled_from([MSGPACK, JSON]), any_value)
def test_so_it_is_for_values_that_nobody_thought_of(kind: Any, codec: Codec, value: Any) -> None:
    agrees(kind, "positional", codec, value)


def test_what_the_table_has_is_told_apart() -> None:
    told = {
        worker_takes(taking(kind, "positional"), MSGPACK, encode_call(MSGPACK, (value,), {}))
        for kind in KINDS
        for value in (1, "a", None)
    }
    assert told == {True, False}


def test_the_usual_types_are_told_without_reading_the_call_again() -> None:
    usual: list[tuple[Any, Any]] = [
        (int, 1),
        (str, "a"),
        (float, 1.5),
        (float, 1),
        (Decimal, Decimal("1.5")),
        (timedelta, timedelta(1)),
        (set[int], {1}),
        (Sequence[int], [1]),
        (Mapping[str, int], {"a": 1}),
        (bool, True),
        (None, None),
        (int | None, None),
        (list[int], [1, 2]),
        (dict[str, Any], {"a": object()}),
        (tuple[int, str], (1, "a")),
        (Colour, Colour.RED),
        (UUID, UUID(int=1)),
        (UserId, 1),
        (Literal["a"], "a"),
        (list[dict[str, int]], [{"a": 1}]),
    ]
    for kind, value in usual:
        for form in ("positional", "rest"):
            assert taking(kind, form).fits((value,), {}), kind


POOL: Any = Depends(Resource(lambda: None))


def test_what_a_worker_fills_in_is_not_looked_at() -> None:
    def task(context: Context, a: int, pool: Any = POOL) -> None: ...

    arguments = Arguments.of(task, inject=Context, leave_out=Need)
    assert arguments.fits((1,), {})
    assert not arguments.fits(("1",), {})
    assert arguments.fits((), {"a": 1})


def test_an_item_of_a_batch_is_held_against_that_of_the_list() -> None:
    def index(pages: list[Address]) -> None: ...

    arguments = ItemArguments.of(index)
    good, bad = encode_call(MSGPACK, (Address("x"),), {}), encode_call(MSGPACK, ("x",), {})
    refuse_misfits(arguments, MSGPACK, good)
    with pytest.raises(InvalidArguments, match="argument 'pages'"):
        refuse_misfits(arguments, MSGPACK, bad)


def test_a_type_that_is_defined_later_is_the_workers_to_check() -> None:
    scope: dict[str, Any] = {}
    exec("def task(a: 'Later', b: int = 1): ...", scope)
    arguments = Arguments.of(scope["task"])
    assert arguments.fits(({"x": 1},), {})
    assert not arguments.fits(({"x": 1}, "b"), {})
    scope["Later"] = Address
    with pytest.raises(InvalidArguments, match="argument 'a'"):
        arguments.convert([{"x": 1}], {})


class Broken(BaseModel):
    x: int

    def model_post_init(self, context: Any) -> None:
        raise RuntimeError("no connection here")


def test_a_validator_that_needs_a_worker_refuses_nothing() -> None:
    def task(a: Broken) -> None: ...

    refuse_misfits(Arguments.of(task), MSGPACK, encode_call(MSGPACK, ({"x": 1},), {}))


class WriteOnly:
    name = "write-only"
    binary = True

    def encode(self, value: Any) -> bytes:
        return MSGPACK.encode(value)

    def decode(self, data: bytes) -> Any:
        raise PermissionError("the key for it is elsewhere")


def test_a_codec_that_can_only_write_here_refuses_nothing() -> None:
    def task(a: Address) -> None: ...

    refuse_misfits(Arguments.of(task), WriteOnly(), b"")
