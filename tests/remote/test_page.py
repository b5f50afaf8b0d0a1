"""What the page says of URLs is what the client does."""

from tests.docs.pages import page, table
from windlass.stores.remote.url import OPTIONS, parse


def test_every_setting_is_listed_with_its_default() -> None:
    rows = table(page("docs/howto/remote.md"), "## TLS")
    listed = {row[0].strip("`"): row[1].strip("`") for row in rows}
    made = parse("https://localhost")
    assert tuple(listed) == OPTIONS
    assert (listed["patience"], listed["timeout"]) == (f"{made.patience:g}", f"{made.timeout:g}")
