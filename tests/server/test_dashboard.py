"""The pages of the dashboard: served with their files, and with what keeps browsers out of harm."""

import gzip
import re

import pytest

from tests.server.conftest import Serve
from tests.server.serving import Served
from windlass.server.http import assets as files
from windlass.server.http.assets import SHELL, Assets, made
from windlass.server.http.ui import shell

PLAIN = {"Accept-Encoding": "identity"}


@pytest.fixture
def shipped(monkeypatch: pytest.MonkeyPatch) -> Assets:
    """Files of a dashboard that has one of each kind, whatever there is in the real one."""
    page = b'<!doctype html><base href="/" /><script type="module" src="assets/a.js"></script>'
    found = {
        SHELL: made(page, ".html"),
        "a.js": made(b"export const a = 1;\n" * 50, ".js"),
        "deep/b.mjs": made(b"export const b = 2;\n" * 50, ".mjs"),
        "deep/c.css": made(b"p { color: red }\n" * 50, ".css"),
        "d.svg": made(b"<svg/>", ".svg"),
    }
    shipped = Assets(found, "0123456789ab")
    monkeypatch.setattr("windlass.server.http.ui.assets", lambda: shipped)
    shell.cache_clear()
    return shipped


@pytest.fixture(autouse=True)
def _forgotten() -> None:
    shell.cache_clear()


async def test_every_address_of_a_view_gives_the_page(bare: Served, shipped: Assets) -> None:
    first = await bare.get("/", headers=PLAIN)
    assert first.status == 200
    assert first.headers["Content-Type"] == "text/html; charset=utf-8"
    assert b'<base href="/" />' in first.body
    for path in ("/ui", "/ui/", "/ui/jobs", "/ui/jobs/a%2Fb", "/ui/queues/a/b?state=dead"):
        answer = await bare.get(path, headers=PLAIN)
        assert (answer.status, answer.body) == (200, first.body), path
    for path in ("/uix", "/api", "/api/v1", "/api/v1/nothing", "/index.html", "/assets", "/x"):
        assert (await bare.get(path)).status == 404, path


async def test_files_have_their_types_and_come_compressed(bare: Served, shipped: Assets) -> None:
    for path, kind in (
        ("a.js", "text/javascript; charset=utf-8"),
        ("deep/b.mjs", "text/javascript; charset=utf-8"),
        ("deep/c.css", "text/css; charset=utf-8"),
        ("d.svg", "image/svg+xml"),
    ):
        plain = await bare.get(f"/assets/{path}", headers=PLAIN)
        assert (plain.status, plain.headers["Content-Type"]) == (200, kind)
        assert plain.body == shipped.found[path].data
        assert "Content-Encoding" not in plain.headers
        assert plain.headers["Vary"] == "accept-encoding"
    async with bare.session.get(f"{bare.url}/assets/a.js", auto_decompress=False) as answer:
        assert answer.headers["Content-Encoding"] == "gzip"
        assert gzip.decompress(await answer.read()) == shipped.found["a.js"].data
    never = await bare.get("/assets/a.js", headers={"Accept-Encoding": "gzip;q=0"})
    assert "Content-Encoding" not in never.headers


async def test_what_is_no_file_of_the_dashboard_is_not_served(bare: Served) -> None:
    for path in ("nothing.js", "../server.py", "..%2Fserver.py", "%2e%2e/server.py", "", "deep"):
        assert (await bare.get(f"/assets/{path}")).status == 404, path


async def test_a_file_is_kept_for_ever_and_a_page_until_it_changes(
    bare: Served, shipped: Assets
) -> None:
    page = (await bare.get("/", headers=PLAIN)).body.decode()
    (linked,) = re.findall(r'src="(.+?)"', page)
    assert linked == f"assets/{shipped.version}/a.js"
    lasting = await bare.get(f"/{linked}")
    assert lasting.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    # Of a page that another version sent, and of who asks without one.
    for path in ("/assets/ba9876543210/a.js", "/assets/a.js", "/"):
        answer = await bare.get(path)
        assert (answer.status, answer.headers["Cache-Control"]) == (200, "no-cache")
        known = {"If-None-Match": f'"x", {answer.headers["ETag"]}'}
        again = await bare.get(path, headers=known)
        assert (again.status, again.body) == (304, b"")
        assert again.headers["ETag"] == answer.headers["ETag"]
        assert (await bare.get(path, headers={"If-None-Match": '"x"'})).status == 200


async def test_pages_are_read_and_nothing_else(bare: Served, shipped: Assets) -> None:
    for path in ("/", "/ui/jobs", "/assets/a.js"):
        head = await bare("HEAD", path)
        assert (head.status, head.body) == (200, b"")
        for method in ("POST", "DELETE", "OPTIONS"):
            answer = await bare(method, path)
            assert (answer.status, answer.headers["Allow"]) == (405, "GET, HEAD")


async def test_pages_tell_browsers_to_load_and_frame_nothing_else(
    bare: Served, shipped: Assets
) -> None:
    for path in ("/", "/ui/jobs", "/assets/a.js"):
        headers = (await bare.get(path)).headers
        policy = dict(part.split(" ", 1) for part in headers["Content-Security-Policy"].split("; "))
        assert policy["default-src"] == policy["frame-ancestors"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
        assert "unsafe" not in headers["Content-Security-Policy"]
        assert headers["X-Frame-Options"] == "DENY"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "same-origin"


async def test_the_reference_page_has_such_a_policy_too(bare: Served) -> None:
    answer = await bare.get("/docs")
    policy = answer.headers["Content-Security-Policy"]
    assert "script-src 'none'" in policy and "style-src 'sha256-" in policy
    assert answer.headers["X-Frame-Options"] == "DENY"
    assert b'href="/' not in answer.body


async def test_who_may_frame_the_pages_is_a_setting(serve: Serve) -> None:
    bare = await serve(frame_ancestors=("self", "https://wiki.example.org"))
    headers = (await bare.get("/")).headers
    assert "frame-ancestors 'self' https://wiki.example.org" in headers["Content-Security-Policy"]
    assert "X-Frame-Options" not in headers


async def test_behind_a_proxy_that_takes_a_path_off_the_page_knows_it(serve: Serve) -> None:
    bare = await serve(root_path="/tools/windlass")
    page = (await bare.get("/ui/jobs", headers=PLAIN)).body
    assert b'<base href="/tools/windlass/" />' in page
    assert (await bare.get("queues")).status == 200


async def test_no_path_can_put_something_into_the_page() -> None:
    page = shell('/"><script>alert(1)</script>').data
    assert b"<script>alert" not in page


async def test_without_a_dashboard_there_are_no_pages(serve: Serve) -> None:
    bare = await serve(dashboard=False)
    for path in ("/", "/ui/jobs", "/assets/favicon.svg"):
        assert (await bare.get(path)).status == 404
    assert (await bare.get("queues")).status == 200


async def test_the_page_that_is_shipped_is_complete_and_small(bare: Served) -> None:
    page = (await bare.get("/", headers=PLAIN)).body.decode()
    linked = re.findall(r'(?:src|href)="(assets/[^"]+)"', page)
    assert linked
    async with bare.session.get(f"{bare.url}/", auto_decompress=False) as answer:
        sent = len(await answer.read())
    for path in linked:
        async with bare.session.get(f"{bare.url}/{path}", auto_decompress=False) as answer:
            assert answer.status == 200, path
            sent += len(await answer.read())
    assert sent < 150_000
    # Everything at once is small enough too, whatever of it the first view needs.
    found = files.assets().found.values()
    assert sum(len(each.packed or each.data) for each in found) < 300_000
