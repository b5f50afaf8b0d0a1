"""Arguments and results survive the way to bytes and back, or are refused in plain words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.core.codec import (
    JSON,
    MSGPACK,
    Codec,
    Codecs,
    Msgpack,
    decode_call,
    decode_result,
    encode_call,
    encode_result,
)
from windlass.errors import CorruptRecord, InvalidOption, UnencodableValue

both = pytest.mark.parametrize("codec", [MSGPACK, JSON], ids=lambda codec: codec.name)

numbers = st.integers() | st.integers(min_value=-(2**200), max_value=2**200)
floats = st.floats(allow_nan=False, allow_infinity=False)
leaves = st.none() | st.booleans() | numbers | floats | st.text(st.characters(codec="utf-8"))


def trees(leaf: st.SearchStrategy[Any], keys: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.recursive(
        leaf,
        lambda inner: st.lists(inner, max_size=5) | st.dictionaries(keys, inner, max_size=5),
        max_leaves=25,
    )


text_keys = st.text(st.characters(codec="utf-8"), max_size=8)
json_trees = trees(leaves, text_keys)
msgpack_trees = trees(
    leaves | st.binary() | st.floats(allow_nan=False), text_keys | numbers | st.binary(max_size=4)
)


@dataclass
class Point:
    x: int
    y: int


class Model:
    """Has the two methods by which pydantic models are known."""

    def __init__(self, **fields: Any) -> None:
        self.fields = fields

    def model_dump(self, mode: str) -> dict[str, Any]:
        assert mode == "json"
        return self.fields


class Text(str):
    __slots__ = ()


class Whole(int):
    pass


class Real(float):
    pass


class Octets(bytes):
    pass


class Moment(datetime):
    pass


class Day(date):
    pass


@given(
    args=st.lists(msgpack_trees, max_size=2),
    kwargs=st.dictionaries(text_keys, msgpack_trees, max_size=2),
)
def test_msgpack_gives_back_any_tree(args: list[Any], kwargs: dict[str, Any]) -> None:
    data = encode_call(MSGPACK, tuple(args), kwargs)
    assert decode_call(MSGPACK, data) == (args, kwargs)


@given(
    args=st.lists(json_trees, max_size=2),
    kwargs=st.dictionaries(text_keys, json_trees, max_size=2),
)
def test_json_gives_back_any_tree_with_text_keys(args: list[Any], kwargs: dict[str, Any]) -> None:
    data = encode_call(JSON, tuple(args), kwargs)
    assert decode_call(JSON, data) == (args, kwargs)


@given(value=msgpack_trees)
def test_a_result_comes_back_from_msgpack(value: Any) -> None:
    assert decode_result(MSGPACK, encode_result(MSGPACK, value)) == value


@given(value=json_trees)
def test_a_result_comes_back_from_json(value: Any) -> None:
    assert decode_result(JSON, encode_result(JSON, value)) == value


@both
@pytest.mark.parametrize(
    "number", [2**64 - 1, 2**64, -(2**63), -(2**63) - 1, 2**1000, -(2**1000), 128, -128, 255, 256]
)
def test_integers_of_any_size_stay_exact(codec: Codec, number: int) -> None:
    value = {"list": [number], "map": {"k": number}}
    back = decode_result(codec, encode_result(codec, value))
    assert back == value
    assert type(back["list"][0]) is int


def test_msgpack_takes_a_big_integer_beside_every_other_kind_of_value() -> None:
    moment = datetime(2024, 5, 1, 12, 30, 0, 7, tzinfo=UTC)
    value = {2**70: Point(2**80, 1), (1, 2**65): {-(2**90)}, "b": b"\0", "t": moment}
    assert decode_result(MSGPACK, encode_result(MSGPACK, value)) == {
        2**70: {"x": 2**80, "y": 1},
        (1, 2**65): [-(2**90)],
        "b": b"\0",
        "t": moment,
    }


def test_msgpack_keeps_nan_and_infinity() -> None:
    back = decode_result(MSGPACK, encode_result(MSGPACK, [math.nan, math.inf, -math.inf]))
    assert math.isnan(back[0])
    assert back[1:] == [math.inf, -math.inf]


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_json_refuses_nan_and_infinity_instead_of_losing_them(number: float) -> None:
    with pytest.raises(UnencodableValue, match="argument 'rate': JSON has no nan or inf"):
        encode_call(JSON, (None, "null"), {"rate": {"deep": [1.5, Real(number)]}})


def test_json_takes_none_and_the_word_null() -> None:
    value = [None, "null", {"null": None}, Point(1, 2), 2**80]
    expected = [None, "null", {"null": None}, {"x": 1, "y": 2}, 2**80]
    assert decode_result(JSON, encode_result(JSON, value)) == expected


@both
@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (Text("a"), "a"),
        (Whole(7), 7),
        (Whole(2**70), 2**70),
        (Real(1.5), 1.5),
        (Day(2024, 5, 1), "2024-05-01"),
        (Moment(2024, 5, 1, 2), "2024-05-01T02:00:00"),
        (Model(a=1), {"a": 1}),
    ],
)
def test_subclasses_and_models_are_reduced_to_plain_data(
    codec: Codec, value: Any, plain: Any
) -> None:
    assert decode_result(codec, encode_result(codec, [value])) == [plain]


def test_a_subclass_of_bytes_is_taken_for_bytes() -> None:
    assert decode_result(MSGPACK, encode_result(MSGPACK, Octets(b"\0a"))) == b"\0a"
    assert decode_result(JSON, encode_result(JSON, Octets(b"\0a"))) == "AGE="


@both
@pytest.mark.parametrize(
    ("value", "name"),
    [
        (object(), "object"),
        (lambda: None, "function"),
        (Model, "type"),
        (1j, "complex"),
        (pytest, "module"),
    ],
)
def test_a_refusal_names_the_argument_and_the_type(codec: Codec, value: Any, name: str) -> None:
    text = f"argument 'callback': a value of type `{name}` cannot be encoded; pass plain data"
    with pytest.raises(UnencodableValue, match=text):
        encode_call(codec, (1, 2), {"fine": 1, "callback": {"nested": [value]}})
    with pytest.raises(UnencodableValue, match=f"^positional argument 2: .*`{name}`"):
        encode_call(codec, (1, value), {})
    with pytest.raises(UnencodableValue, match=f"^the result: .*`{name}`"):
        encode_result(codec, value)


def test_a_refused_type_from_a_module_is_named_in_full() -> None:
    with open(__file__) as file, pytest.raises(UnencodableValue, match=r"`_io\.TextIOWrapper`"):
        encode_call(MSGPACK, (file,), {})


def test_a_refused_value_is_named_though_a_big_integer_stands_before_it() -> None:
    with pytest.raises(UnencodableValue, match=r"^positional argument 2: .*`object`"):
        encode_call(MSGPACK, (2**70, [2**70, object()]), {})


@both
def test_a_lone_surrogate_is_refused(codec: Codec) -> None:
    with pytest.raises(UnencodableValue, match="positional argument 1: text with a lone surrogate"):
        encode_call(codec, ("\ud800",), {})
    with pytest.raises(UnencodableValue, match="surrogate"):
        encode_call(codec, ([2**70, "\ud800"],), {})
    with pytest.raises(UnencodableValue, match="surrogate"):
        encode_call(codec, (), {"\ud800": 1})


@both
def test_a_value_that_contains_itself_is_refused(codec: Codec) -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(UnencodableValue, match="contains itself"):
        encode_call(codec, (loop,), {})


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({(1, 2): 3}, "JSON cannot have a `tuple` as the key of a dict"),
        ({None: 1}, "JSON cannot have a `NoneType` as the key of a dict"),
        ({True: 1}, "JSON cannot have a `bool` as the key of a dict"),
        (10**5000, "the value cannot be encoded: Exceeds the limit"),
    ],
    ids=["tuple key", "None key", "bool key", "5001 digits"],
)
def test_what_json_alone_cannot_write_is_refused_by_json_alone(value: Any, text: str) -> None:
    assert decode_result(MSGPACK, encode_result(MSGPACK, value)) == value
    with pytest.raises(UnencodableValue, match=f"^the result: {text}"):
        encode_result(JSON, value)


def test_a_foreign_extension_type_is_passed_through() -> None:
    back = decode_result(MSGPACK, encode_result(MSGPACK, msgspec.msgpack.Ext(5, b"x")))
    assert back == msgspec.msgpack.Ext(5, b"x")


@both
@pytest.mark.parametrize(
    "record",
    [[], {}, None, 1, [1], [1, []], [1, [], {}, 0], [1, {}, {}], [1, [], []], ["1", [], {}]],
)
def test_an_arguments_record_of_another_shape_is_corrupt(codec: Codec, record: Any) -> None:
    with pytest.raises(CorruptRecord, match="arguments record does not have the shape"):
        decode_call(codec, codec.encode(record))


def test_a_keyword_that_is_not_text_is_corrupt() -> None:
    with pytest.raises(CorruptRecord, match="shape"):
        decode_call(MSGPACK, MSGPACK.encode([1, [], {"a": 1, 2: 3}]))


@both
@pytest.mark.parametrize("record", [[], {}, "1", [1], [1, 2, 3], ["1", 2]])
def test_a_result_record_of_another_shape_is_corrupt(codec: Codec, record: Any) -> None:
    with pytest.raises(CorruptRecord, match="result record does not have the shape"):
        decode_result(codec, codec.encode(record))


@both
def test_a_record_of_a_newer_version_says_so(codec: Codec) -> None:
    with pytest.raises(CorruptRecord, match="version 2, and this release reads version 1"):
        decode_call(codec, codec.encode([2, [], {}, "more"]))
    with pytest.raises(CorruptRecord, match="version 2, and this release reads version 1"):
        decode_result(codec, codec.encode([2, None]))


@both
@pytest.mark.parametrize("data", [b"", b"\xc1", b"\xa1\xff", b'["\xff"]', b"[1,", b"[" * 100_000])
def test_malformed_bytes_are_corrupt(codec: Codec, data: bytes) -> None:
    with pytest.raises(CorruptRecord):
        decode_call(codec, data)


def test_bottomless_msgpack_is_corrupt() -> None:
    with pytest.raises(CorruptRecord, match="not valid MessagePack: "):
        decode_call(MSGPACK, b"\x91" * 100_000)


@both
@given(data=st.binary(max_size=64))
def test_no_bytes_whatever_raise_anything_but_corrupt_record(codec: Codec, data: bytes) -> None:
    try:
        args, kwargs = decode_call(codec, data)
    except CorruptRecord:
        return
    assert isinstance(args, list)
    assert isinstance(kwargs, dict)


@given(
    tree=msgpack_trees,
    position=st.integers(min_value=0),
    byte=st.integers(min_value=0, max_value=255),
)
def test_a_damaged_record_raises_nothing_but_corrupt_record(
    tree: Any, position: int, byte: int
) -> None:
    data = bytearray(encode_call(MSGPACK, (tree,), {}))
    data[position % len(data)] = byte
    try:
        args, kwargs = decode_call(MSGPACK, bytes(data))
    except CorruptRecord:
        return
    assert isinstance(args, list)
    assert isinstance(kwargs, dict)


def test_codecs_know_msgpack_and_json_whatever_the_default_is() -> None:
    codecs = Codecs()
    assert codecs.default is MSGPACK
    assert codecs.get("msgpack") is MSGPACK
    assert codecs.get("json") is JSON
    assert Codecs(JSON).default is JSON
    assert Codecs(JSON).get("msgpack") is MSGPACK


def test_codecs_find_the_default_and_the_others_by_name() -> None:
    first, second = Renamed("first"), Renamed("second")
    codecs = Codecs(first, second)
    assert codecs.get("first") is first
    assert codecs.get("second") is second


def test_an_unknown_content_type_is_corrupt() -> None:
    with pytest.raises(CorruptRecord, match=r"'pickle', which .* cannot read; it knows json, msgp"):
        Codecs().get("pickle")


def test_two_codecs_of_one_name_are_refused() -> None:
    with pytest.raises(InvalidOption, match="Two codecs have the name 'msgpack'"):
        Codecs(Renamed("msgpack"))


class Renamed:
    binary = True

    def __init__(self, name: str) -> None:
        self.name = name

    def encode(self, value: Any) -> bytes:
        return Msgpack().encode(value)

    def decode(self, data: bytes) -> Any:
        return Msgpack().decode(data)
