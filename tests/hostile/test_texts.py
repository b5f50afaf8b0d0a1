"""Texts that anybody may hand over: each is understood, or refused in one sentence."""

import time

from hypothesis import example, given, settings
from hypothesis import strategies as st

from windlass.core.cron import timetable
from windlass.errors import InvalidOption, WindlassError
from windlass.stores.open import _OPENERS, open_store


def is_one_sentence(error: WindlassError) -> None:
    assert str(error)
    assert "\n" not in str(error)


SCHEMES = st.sampled_from([*_OPENERS, "kafka", "SQLITE", ""])
PIECES = """/ // : @ ? & = , # % %00 %zz [ ] [::1] ; \0 \ud800 é a b.db 127.0.0.1 host:6379 host:0
:99999 :-1 user:pw@ ?schema= schema=x namespace= namespace={} ?patience=nan ?db=-1 ?partitions=0
partitions=9e9 ?migrate=off tls= ?ssl=maybe master= 1e999 -0 ' --"""
PARTS = st.lists(st.sampled_from(PIECES.split()) | st.text(max_size=5), max_size=8)
URLS = st.builds(
    lambda scheme, slashes, parts: scheme + slashes + "".join(parts),
    SCHEMES,
    st.sampled_from(["://", ":", ":/", ":///", ""]),
    PARTS,
)


@settings(max_examples=300)
@given(st.text(max_size=40) | URLS)
@example("redis://[")
@example("postgresql://[::1")
@example("http://host:port")
def test_any_url_is_a_store_or_one_sentence(url: str) -> None:
    try:
        store = open_store(url)
    except WindlassError as error:
        is_one_sentence(error)
    else:
        assert callable(store.claim)


WORDS = "* ? L W # / - , 0 1 5 59 60 99999999999 mon MON-fri jan 1-0 */0 */7 5/2 L-3 1#5 7#9"
FIELDS = st.lists(
    st.sampled_from(WORDS.split()) | st.text("0123456789*/,-#LW?", max_size=8),
    min_size=1,
    max_size=3,
).map("".join)
EXPRESSIONS = st.lists(FIELDS, min_size=4, max_size=7).map(" ".join) | st.builds(
    "@every {}".format, st.text("0123456789smhd ", max_size=12)
)


@settings(max_examples=300)
@given(EXPRESSIONS | st.text(max_size=20), st.sampled_from(["UTC", "Europe/Berlin"]))
@example("* * * * " + "," * 100_000, "UTC")
@example("*/1,*/1 " * 5, "UTC")
@example("@every " + "9" * 5_000 + "s", "UTC")
@example("0-" + "9" * 5_000 + " * * * *", "UTC")
@example("0 0 29 2 mon#5", "UTC")
def test_any_cron_expression_is_a_timetable_or_refused_in_bounded_time(
    text: str, zone: str
) -> None:
    began = time.monotonic()
    try:
        table = timetable(text, zone)
    except InvalidOption as error:
        is_one_sentence(error)
    else:
        first, second = table.coming(1_750_000_000_000, 2)
        assert 1_750_000_000_000 < first < second
        assert table.words
    assert time.monotonic() - began < 10


@settings(max_examples=200)
@given(st.text(max_size=30))
@example("a" * 300)
@example("Europe")
@example("/etc/localtime")
def test_any_time_zone_is_one_or_refused(zone: str) -> None:
    try:
        timetable("0 9 * * *", zone)
    except InvalidOption as error:
        is_one_sentence(error)
