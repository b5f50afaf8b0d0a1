"""Queries in the words of each driver."""

from windlass.stores.sql.placeholders import formatted, numbered, questioned


def test_a_name_that_comes_twice_has_one_number_or_is_given_twice() -> None:
    sql = "SELECT * FROM t WHERE a = :one AND b = :two AND c = :one"
    assert numbered(sql) == (
        "SELECT * FROM t WHERE a = $1 AND b = $2 AND c = $1",
        ("one", "two"),
        (),
    )
    assert formatted(sql).names == ("one", "two", "one")
    assert formatted(sql).text.count("%s") == 3


def test_arguments_come_in_the_order_of_the_query() -> None:
    query = formatted("SELECT :b, :a, :b")
    assert query.arguments({"a": 1, "b": 2, "unused": 3}) == [2, 1, 2]


def test_arguments_by_position_are_counted() -> None:
    assert numbered("VALUES (?, ?)").text == "VALUES ($1, $2)"
    assert formatted("VALUES (?, ?)").text == "VALUES (%s, %s)"


def test_numbers_of_arguments_are_followed_by_drivers_that_repeat() -> None:
    query = formatted("SELECT ?1, ?3, ?1, '?2'")
    assert query.text == "SELECT %s, %s, %s, '?2'"
    assert query.by_place(["a", "left out", "c"]) == ["a", "c", "a"]
    assert questioned("SELECT ?1, ?3").text == "SELECT ?1, ?3"


def test_casts_and_quoted_text_are_left_alone() -> None:
    sql = "SELECT ':no ? it''s', :yes::text"
    assert numbered(sql) == ("SELECT ':no ? it''s', $1::text", ("yes",), ())


def test_a_percent_sign_stays_one() -> None:
    assert formatted("SELECT 5 % 3, '100%'").text % () == "SELECT 5 % 3, '100%'"
    assert numbered("SELECT 5 % 3").text == "SELECT 5 % 3"
    assert questioned("SELECT 5 % 3").text == "SELECT 5 % 3"


def test_question_marks_stand_for_names_too() -> None:
    assert questioned("SELECT :b, ':c', :a, :b") == ("SELECT ?, ':c', ?, ?", ("b", "a", "b"), ())
