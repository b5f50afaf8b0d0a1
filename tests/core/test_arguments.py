"""A call is checked where it is made, and its values are converted where it runs."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum
from typing import Annotated, Any, Generic, NamedTuple, Protocol, TypeVar
from uuid import UUID

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.core.arguments import Arguments
from windlass.core.codec import (
    JSON,
    MSGPACK,
    Codec,
    decode_call,
    decode_result,
    encode_call,
    encode_result,
)
from windlass.errors import CorruptRecord, InvalidArguments, InvalidOption

T = TypeVar("T")
both = pytest.mark.parametrize("codec", [MSGPACK, JSON], ids=lambda codec: codec.name)


class Color(Enum):
    RED = "red"


class Level(IntEnum):
    LOW = 1


class Mixed(Enum):
    ONE = 1
    TWO = "two"


@dataclass
class Address:
    street: str
    since: date


@dataclass
class User:
    id: UUID
    addresses: list[Address]
    boss: User | None = None


class Event(msgspec.Struct):
    at: datetime
    cost: Decimal
    raw: bytes


class Pair(NamedTuple):
    left: int
    right: UUID


class Opaque:
    pass


class Sized(Protocol):
    def size(self) -> int: ...


class Context(Generic[T]):
    pass


class Model:
    """Has the two methods by which pydantic models are known."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Model) and other.number == self.number

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Model({self.number})"

    def model_dump(self, mode: str) -> dict[str, Any]:
        return {"number": self.number}

    @classmethod
    def model_validate(cls, value: Any) -> Model:
        if not isinstance(value["number"], int):
            raise ValueError("number must be an int")
        return cls(value["number"])


KEY = UUID("0192c1b8-5a6e-7c3d-9f1b-0a1b2c3d4e5f")
VALUES: list[tuple[Any, Any]] = [
    (int, 2**64 - 1),
    (int, 2**80),
    (float, 1.0),
    (float, 3),
    (str, "NUL \0 and ü"),
    (bool, True),
    (None, None),
    (bytes, b"\0\xff\0"),
    (bytearray, bytearray(b"\0\xff")),
    (datetime, datetime(2024, 5, 1, 12, 30, 0, 7)),
    (datetime, datetime(2024, 5, 1, 12, 30, tzinfo=UTC)),
    (datetime, datetime(2024, 5, 1, 12, 30, tzinfo=timezone(timedelta(hours=-5)))),
    (date, date(2024, 2, 29)),
    (time, time(23, 59, 59, 999999)),
    (timedelta, timedelta(days=-3, microseconds=1)),
    (UUID, KEY),
    (Decimal, Decimal("1.10")),
    (Color, Color.RED),
    (Level, Level.LOW),
    (Pair, Pair(1, KEY)),
    (User, User(KEY, [Address("a", date(2024, 1, 1))], User(KEY, []))),
    (Event, Event(datetime(2024, 5, 1, tzinfo=UTC), Decimal("0.1"), b"\0")),
    (set[int], {1, 2, 2**70}),
    (frozenset[UUID], frozenset({KEY})),
    (tuple[int, str, UUID], (1, "a", KEY)),
    (tuple[date, ...], (date(2024, 1, 1),)),
    (dict[str, list[Address]], {"home": [Address("b", date(2023, 1, 1))]}),
    (dict[int, Decimal], {1: Decimal("2")}),
    (dict[UUID, bytes], {KEY: b"\0"}),
    (UUID | None, None),
    (UUID | None, KEY),
    (int | str, "7"),
    (int | UUID, KEY),
    (list[Event | None], [None, Event(datetime(2024, 5, 1), Decimal(1), b"")]),
    (Annotated[int, msgspec.Meta(gt=0)], 5),
    (Model, Model(3)),
    (list[Model], [Model(1), Model(2)]),
    (Model | None, Model(4)),
    (list[object], [1, "a"]),
    (Any, {"a": [1]}),
]


def taking(annotation: Any) -> Arguments:
    def task(value: Any) -> Any: ...

    task.__annotations__ = {"value": annotation, "return": annotation}
    return Arguments.of(task)


def run(codec: Codec, arguments: Arguments, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """The call as the worker sees it."""
    decoded = decode_call(codec, encode_call(codec, args, kwargs))
    return arguments.convert(*decoded, binary=codec.binary)


@both
@pytest.mark.parametrize(("annotation", "value"), VALUES, ids=str)
def test_an_annotated_value_comes_back_as_itself(codec: Codec, annotation: Any, value: Any) -> None:
    arguments = taking(annotation)
    assert run(codec, arguments, value) == ([value], {})
    back = run(codec, arguments, value=value)[1]["value"]
    assert back == value
    assert type(back) is (float if annotation is float else type(value))


@both
@pytest.mark.parametrize(("annotation", "value"), VALUES, ids=str)
def test_an_annotated_result_comes_back_as_itself(
    codec: Codec, annotation: Any, value: Any
) -> None:
    decoded = decode_result(codec, encode_result(codec, value))
    assert taking(annotation).result(decoded, binary=codec.binary) == value


@both
@given(
    moments=st.lists(st.datetimes() | st.datetimes(timezones=st.just(UTC)), max_size=2),
    spans=st.dictionaries(st.uuids(), st.timedeltas(), max_size=2),
    amounts=st.lists(st.decimals(allow_nan=False), max_size=2),
)
def test_any_moment_span_and_amount_comes_back(
    codec: Codec, moments: Any, spans: Any, amounts: Any
) -> None:
    def task(
        moments: list[datetime], spans: dict[UUID, timedelta], *, amounts: list[Decimal]
    ) -> None: ...

    back = run(codec, Arguments.of(task), moments, spans, amounts=amounts)
    assert back == ([moments, spans], {"amounts": amounts})


def test_nan_comes_back_from_msgpack() -> None:
    (value,), _ = run(MSGPACK, taking(float), math.nan)
    assert math.isnan(value)


@both
@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (Opaque, {"a": 1}),
        (list[Opaque], ["x"]),
        (Sized, [1]),
        (Address | User, {"street": 1}),
        (Mixed, 1),
        ("Nowhere", "x"),
        ("this is no annotation", 1),
        (T, 1),
        (object, 1),
    ],
    ids=str,
)
def test_a_type_that_nothing_can_build_leaves_the_value_as_it_is(
    codec: Codec, annotation: Any, value: Any
) -> None:
    assert run(codec, taking(annotation), value) == ([value], {})
    assert taking(annotation).result(value) == value


def send_welcome(user_id: int, retries: int = 3) -> str:
    return f"{user_id} {retries}"


@both
def test_a_wrong_value_names_the_task_and_the_parameter(codec: Codec) -> None:
    arguments = Arguments.of(send_welcome)
    text = r"^send_welcome\(\) argument 'user_id': Expected `int`, got `str`\.$"
    with pytest.raises(InvalidArguments, match=text):
        run(codec, arguments, "42")
    with pytest.raises(InvalidArguments, match=r"argument 'retries': Expected `int`, got `null`"):
        run(codec, arguments, 1, retries=None)


def test_a_wrong_value_deep_inside_is_located() -> None:
    with pytest.raises(InvalidArguments, match=r"Expected `str`, got `int` - at `\$\[1\]\.street`"):
        run(
            MSGPACK,
            taking(list[Address]),
            [Address("a", date(2024, 1, 1)), {"street": 1, "since": "2024-01-01"}],
        )


def test_what_a_model_refuses_is_a_wrong_value() -> None:
    with pytest.raises(InvalidArguments, match="argument 'value': number must be an int"):
        run(MSGPACK, taking(Model), {"number": "x"})


def test_a_constraint_in_the_annotation_is_kept() -> None:
    with pytest.raises(InvalidArguments, match="Expected `int` >= 1"):
        run(MSGPACK, taking(Annotated[int, msgspec.Meta(ge=1)]), 0)


def test_an_integer_too_large_for_a_float_is_a_wrong_value() -> None:
    with pytest.raises(InvalidArguments, match="argument 'value'"):
        run(MSGPACK, taking(float), 2**2000)


def test_text_for_bytes_is_refused_unless_the_codec_has_no_bytes() -> None:
    arguments = taking(bytes)
    with pytest.raises(InvalidArguments, match="Expected `bytes`, got `str`"):
        run(MSGPACK, arguments, "AGE=")
    assert run(JSON, arguments, "AGE=") == ([b"\0a"], {})


def test_a_result_that_does_not_fit_its_annotation_says_so() -> None:
    arguments = Arguments.of(send_welcome)
    assert arguments.result("fine") == "fine"
    with pytest.raises(CorruptRecord, match=r"send_welcome\(\) does not fit .*Expected `str`"):
        arguments.result(7)


def test_every_kind_of_parameter_is_converted() -> None:
    def task(  # type: ignore[no-untyped-def]
        a: UUID, /, b: date, plain, *rest: Decimal, named: UUID, other: int = 1, **more: date
    ) -> None: ...

    day = date(2024, 1, 1)
    args, kwargs = run(
        MSGPACK, Arguments.of(task), KEY, day, KEY, Decimal(1), Decimal(2), named=KEY, a=day, b2=day
    )
    assert args == [KEY, day, str(KEY), Decimal(1), Decimal(2)]
    assert kwargs == {"named": KEY, "a": day, "b2": day}
    with pytest.raises(InvalidArguments, match="argument 'rest': Invalid decimal"):
        run(MSGPACK, Arguments.of(task), KEY, day, 1, "x", named=KEY)
    with pytest.raises(InvalidArguments, match="argument 'extra': Invalid RFC3339"):
        run(MSGPACK, Arguments.of(task), KEY, day, 1, named=KEY, extra="x")


def test_a_parameter_without_annotation_is_not_taken_for_one_of_the_others() -> None:
    def task(plain, **more: date) -> None: ...  # type: ignore[no-untyped-def]

    assert run(MSGPACK, Arguments.of(task), plain="x") == ([], {"plain": "x"})


def test_a_parameter_named_like_the_rest_does_not_get_its_type() -> None:
    def task(*args: UUID, **kwargs: int) -> None: ...

    _, kwargs = run(MSGPACK, Arguments.of(task), args=1, kwargs=2)
    assert kwargs == {"args": 1, "kwargs": 2}


def test_values_beyond_the_signature_are_left_to_the_call() -> None:
    assert run(MSGPACK, Arguments.of(send_welcome), 1, 2, 3, x=4) == ([1, 2, 3], {"x": 4})


def later(value: Later, lost: Nowhere, many: list[Later]) -> Later:  # type: ignore[name-defined]  # noqa: F821
    return value


later_arguments = Arguments.of(later)


@dataclass
class Later:
    day: date


def test_a_class_defined_after_the_task_is_found_and_a_lost_one_does_no_harm() -> None:
    value = Later(date(2024, 1, 1))
    args, _ = run(MSGPACK, later_arguments, value, value, [value])
    assert args == [value, {"day": "2024-01-01"}, [value]]
    assert later_arguments.result({"day": "2024-01-01"}) == value


def test_a_partial_has_the_parameters_that_are_left() -> None:
    def task(a: int, day: date, *, key: UUID) -> None: ...

    arguments = Arguments.of(functools.partial(task, 1, key=KEY))
    assert arguments.name == "task"
    arguments.check((date.today(),), {})
    with pytest.raises(InvalidArguments, match="too many positional"):
        arguments.check((1, date.today()), {})
    assert run(JSON, arguments, date(2024, 1, 1)) == ([date(2024, 1, 1)], {})


def test_a_wrapped_function_has_its_own_signature() -> None:
    @functools.wraps(send_welcome)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return send_welcome(*args, **kwargs)

    arguments = Arguments.of(wrapper)
    assert str(arguments) == "send_welcome(user_id: int, retries: int = 3)"
    with pytest.raises(InvalidArguments):
        arguments.check((), {})


class Callback:
    def __call__(self, day: date) -> None: ...

    def method(self, day: date) -> None: ...


@pytest.mark.parametrize(
    ("func", "name"),
    [(Callback(), "Callback"), (Callback().method, "method")],
    ids=["object", "method"],
)
def test_methods_and_callable_objects_have_no_self(func: Callable[..., Any], name: str) -> None:
    arguments = Arguments.of(func)
    assert str(arguments) == f"{name}(day: date)"
    assert run(JSON, arguments, date(2024, 1, 1)) == ([date(2024, 1, 1)], {})


def test_what_has_no_signature_cannot_be_a_task() -> None:
    with pytest.raises(InvalidOption, match="type cannot be a task"):
        Arguments.of(type)


def empty() -> None: ...
def defaults(a: int, b: int = 1, *, c: int = 2) -> None: ...
def needs_keyword(a: int, *, c: int) -> None: ...
def positional_only(a: int, b: int = 1, /, c: int = 2) -> None: ...
def takes_rest(a: int, *rest: int, c: int = 2) -> None: ...
def takes_all(a: int, /, b: int = 1, *rest: int, c: int, **more: int) -> None: ...


@pytest.mark.parametrize(
    "func", [empty, defaults, needs_keyword, positional_only, takes_rest, takes_all]
)
@given(
    args=st.lists(st.just(0), max_size=4),
    kwargs=st.dictionaries(st.sampled_from(["a", "b", "c", "x"]), st.just(0)),
)
def test_check_refuses_exactly_what_python_would_refuse(
    func: Callable[..., Any], args: list[int], kwargs: dict[str, int]
) -> None:
    try:
        func(*args, **kwargs)
    except TypeError:
        with pytest.raises(InvalidArguments, match=rf"^{func.__name__}\(\) (missing|got) .*takes"):
            Arguments.of(func).check(args, kwargs)
    else:
        Arguments.of(func).check(args, kwargs)


@pytest.mark.parametrize(
    ("args", "kwargs", "text"),
    [
        ((), {}, "missing a required argument: 'user_id'"),
        ((1, 2, 3), {}, "got too many positional arguments"),
        ((1,), {"x": 1}, "got an unexpected keyword argument 'x'"),
        ((1,), {"user_id": 1}, "got multiple values for argument 'user_id'"),
    ],
)
def test_a_refused_call_says_what_the_task_takes(args: Any, kwargs: Any, text: str) -> None:
    with pytest.raises(InvalidArguments) as caught:
        Arguments.of(send_welcome).check(args, kwargs)
    expected = f"send_welcome() {text}; it takes (user_id: int, retries: int = 3)."
    assert str(caught.value) == expected


def test_check_does_not_look_at_types() -> None:
    arguments = Arguments.of(send_welcome)
    arguments.check((object(),), {})
    with pytest.raises(InvalidArguments):
        arguments.convert([object()], {})


def with_context(ctx: Context, day: date, *, n: int = 1) -> None: ...  # type: ignore[type-arg]
def with_generic(ctx: Context[int], day: date, *, n: int = 1) -> None: ...
def with_hidden(ctx: somewhere.Context, day: date, *, n: int = 1) -> None: ...  # type: ignore[name-defined]  # noqa: F821
def with_position(ctx: Context[Any], /, day: date, *, n: int = 1) -> None: ...


@pytest.mark.parametrize("func", [with_context, with_generic, with_hidden, with_position])
def test_the_context_is_not_part_of_a_call(func: Callable[..., Any]) -> None:
    arguments = Arguments.of(func, inject=Context)
    assert arguments.takes_context
    assert str(arguments) == f"{func.__name__}(day: date, *, n: int = 1)"
    arguments.check((date.today(),), {})
    arguments.check((), {"day": date.today(), "n": 2})
    for args, kwargs in [((), {}), ((1, 2), {}), ((1,), {"ctx": 1})]:
        with pytest.raises(InvalidArguments):
            arguments.check(args, kwargs)
    assert run(JSON, arguments, date(2024, 1, 1)) == ([date(2024, 1, 1)], {})


def test_a_context_that_is_not_given_by_name_is_refused_where_any_name_is_taken() -> None:
    def task(ctx: Context[Any], **more: int) -> None: ...

    with pytest.raises(InvalidArguments, match="multiple values for argument 'ctx'"):
        Arguments.of(task, inject=Context).check((), {"ctx": 1})


def test_without_a_context_nothing_is_left_out() -> None:
    assert not Arguments.of(send_welcome, inject=Context).takes_context
    assert not Arguments.of(with_context).takes_context


def test_a_context_that_is_not_the_first_parameter_is_refused() -> None:
    def second(day: date, ctx: Context[Any]) -> None: ...
    def named(*, ctx: Context[Any]) -> None: ...

    for func in (second, named):
        with pytest.raises(InvalidOption, match="must take its Context as the first positional"):
            Arguments.of(func, inject=Context)
