"""Queries with their arguments in them, as they are sent."""

from typing import Any

from windlass.stores.mysql.dialect import dialect_of
from windlass.stores.mysql.script import bulk, compiled, statements
from windlass.stores.sql.operation import Bulk, Statement


def literal(value: Any) -> str:
    return "NULL" if value is None else repr(value)


def test_a_name_may_come_twice_and_quoted_colons_are_left_alone() -> None:
    script = compiled("SELECT ':a', '100%' WHERE x = :a AND y < :b + :a")
    assert statements(script, {"a": 1, "b": "z"}, literal) == [
        "SELECT ':a', '100%' WHERE x = 1 AND y < 'z' + 1"
    ]


def test_a_list_is_given_as_a_sequence_or_as_json() -> None:
    script = compiled("SELECT 1 WHERE id IN :ids")
    for ids in (("a", "b"), '["a","b"]'):
        assert statements(script, {"ids": ids}, literal) == ["SELECT 1 WHERE id IN ('a','b')"]
    assert statements(script, {"ids": []}, literal) == ["SELECT 1 WHERE id IN (NULL)"]


def test_a_query_may_have_several_statements_and_use_an_argument_again() -> None:
    script = compiled("INSERT ?1, ?2;\nDELETE ?1")
    assert list(bulk(script, [(1, 2), (3, 4)], literal)) == [
        "INSERT 1, 2",
        "DELETE 1",
        "INSERT 3, 4",
        "DELETE 3",
    ]


def test_rows_go_into_one_statement_where_a_mark_says_so() -> None:
    script = compiled("INSERT VALUES /*each*/(?, ?, ?)/*each*/ TAIL")
    rows = [(1, "a%s", None), (2, "a%s", True), (3, "a%s", 1)]
    assert list(bulk(script, rows, literal)) == [
        "INSERT VALUES (1, 'a%s', NULL), (2, 'a%s', True), (3, 'a%s', 1) TAIL"
    ]
    assert list(bulk(script, [(1, 2, 3)] * 2, literal)) == [
        "INSERT VALUES (1, 2, 3), (1, 2, 3) TAIL"
    ]


def test_no_statement_is_larger_than_there_is_room_for_unless_one_row_is() -> None:
    script = compiled("I /*each*/(?)/*each*/")
    rows = [("x" * 30,), ("y" * 30,), ("z" * 90,), ("w" * 10,)]
    sizes = [len(text) for text in bulk(script, rows, literal, 80)]
    assert sizes == [len("I ") + 34 + 2 + 34, len("I ") + 94, len("I ") + 14]


def test_a_connection_of_the_user_gets_one_statement_at_a_time() -> None:
    queries = {
        "arrive": "SELECT 1",
        "named": "INSERT x;\nSELECT :a WHERE id IN :ids",
        "drop": "DELETE a IN (/*each*/?/*each*/);\nDELETE b IN (/*each*/?/*each*/)",
        "end": "INSERT ?2, ?1;\nDELETE ?2",
    }
    steps = dialect_of(queries, "shop", None).steps
    assert list(steps(Statement("named", {"a": 1, "ids": '["x","y"]'}))) == [
        ("INSERT x", []),
        ("SELECT ? WHERE id IN (?, ?)", [1, "x", "y"]),
    ]
    assert list(steps(Bulk("drop", [("x",), ("y",)]))) == [
        ("DELETE a IN (?, ?)", ["x", "y"]),
        ("DELETE b IN (?, ?)", ["x", "y"]),
    ]
    assert list(steps(Bulk("end", [(1, 2)]))) == [("INSERT ?, ?", [2, 1]), ("DELETE ?", [2])]
