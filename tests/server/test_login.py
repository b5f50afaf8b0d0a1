"""Logging in to the dashboard: a cookie in the place of a key, on every server, for a time."""

import asyncio
from http.cookies import Morsel, SimpleCookie

import aiohttp
import pytest

from tests.server.conftest import Serve
from tests.server.serving import Answer, Served
from tests.server.shop import Shop
from tests.server.test_access import expected, outcomes
from windlass.core.apikey import IMPLIED, Role, new_key
from windlass.core.session import unwrap, wrap
from windlass.server.http.door import COOKIE
from windlass.server.http.routes import ROUTES


async def log_in(api: Served, key: str, **options: object) -> Answer:
    return await api.post("/login", {"key": key}, **options)


async def cookie(api: Served, key: str) -> dict[str, str]:
    """The header of one who has logged in with a key."""
    answer = await log_in(api, key)
    assert answer.status == 200, answer
    return {"Cookie": f"{COOKIE}={morsel(answer).value}"}


def morsel(answer: Answer) -> Morsel[str]:
    return SimpleCookie(answer.headers["Set-Cookie"])[COOKIE]


def own(api: Served) -> dict[str, str]:
    """What a browser says of a request by a page of this server."""
    return {"Sec-Fetch-Site": "same-origin", "Origin": api.url}


async def test_a_login_stands_for_its_key(bare: Served) -> None:
    key = await bare.add_key("operate", "enqueue", queues=["mail", "bills"], name="Ada")
    answer = await log_in(bare, f" {key}\n")
    assert answer.json == {
        "name": "Ada",
        "roles": ["read", "enqueue", "operate"],
        "queues": ["bills", "mail"],
        "tasks_known": False,
        "redacts": [],
        "history": False,
        "logged_in": True,
        "version": answer.json["version"],
    }
    assert (await bare.get("me", headers=await cookie(bare, key))).json == answer.json
    assert (await bare.get("me", key=key)).json == answer.json | {"logged_in": False}
    assert (await bare.get("me")).status == 401


@pytest.mark.parametrize("role", [*Role])
async def test_a_login_opens_what_its_key_opens(bare: Served, role: Role) -> None:
    headers = await cookie(bare, await bare.add_key(role)) | own(bare)
    assert await outcomes(bare, headers) == expected(IMPLIED[role])


async def test_no_script_and_no_other_site_gets_the_cookie(bare: Served) -> None:
    key = await bare.add_key("read")
    set_ = morsel(await log_in(bare, key))
    assert set_["httponly"] and set_["samesite"] == "Strict" and set_["path"] == "/"
    assert int(set_["max-age"]) == 12 * 3600
    assert not set_["secure"]
    secret = key.split("_", 2)[2]
    assert secret not in set_.value and key not in set_.value
    headers = {"Origin": f"https://127.0.0.1:{bare.port}"}
    assert morsel(await log_in(bare, key, headers=headers))["secure"]


async def test_the_cookie_is_for_the_path_that_a_proxy_serves(serve: Serve) -> None:
    bare = await serve(root_path="/tools")
    assert morsel(await log_in(bare, await bare.add_key("read")))["path"] == "/tools/"


async def test_a_login_counts_on_every_server_of_the_store(serve: Serve, shop: Shop) -> None:
    one, two = await serve(shop), await serve(shop)
    headers = await cookie(one, await one.add_key("read"))
    await two.site.keyring.refresh()
    assert (await two.get("jobs", headers=headers)).status == 200


async def test_a_login_ends_with_its_key(serve: Serve) -> None:
    bare = await serve(key_refresh=0.02)
    key, other = await bare.add_key("read"), await bare.add_key("read")
    headers, others = await cookie(bare, key), await cookie(bare, other)
    await bare.store.drop_keys([key.split("_")[1]])
    async with asyncio.timeout(20):
        while (await bare.get("jobs", headers=headers)).status != 401:
            await asyncio.sleep(0.01)
    assert "log in again" in (await bare.get("jobs", headers=headers)).detail
    assert (await bare.get("jobs", headers=others)).status == 200


async def test_a_login_ends_with_its_time(bare: Served) -> None:
    made = new_key(["read"])
    (key,) = await bare.add_keys(made)
    for left, status in ((60_000, 200), (0, 401), (-1, 401)):
        login = bare.site.keyring.log_in(key, left)
        headers = {"Cookie": f"a=b; {COOKIE}={login}"}
        assert (await bare.get("jobs", headers=headers)).status == status


def test_a_login_cannot_be_changed_and_not_made_of_what_the_store_has() -> None:
    made = new_key(["admin"])
    keys = {made.key.id: made.key}
    login = wrap(made.key, made.text, 1_000)
    assert unwrap(keys, login, 999) is made.key
    assert unwrap(keys, login, 1_000) is None
    assert unwrap({}, login, 0) is None
    assert wrap(made.key, made.text, 1_000) != login
    start = login.rindex("_") + 1
    for place in range(start, len(login)):
        other = "A" if login[place] != "A" else "B"
        assert unwrap(keys, login[:place] + other + login[place + 1 :], 0) is None
    # Who reads the hash of a key can seal something, but not the secret.
    forged = wrap(made.key, f"wl_{made.key.id}_{'A' * 43}", 1_000)
    assert unwrap(keys, forged, 0) is None
    for text in ("", "wls_", made.text, login + "A", login[:-1], "§" * 150):
        assert unwrap(keys, text, 0) is None


async def test_who_is_logged_in_changes_things_from_our_own_pages_only(bare: Served) -> None:
    login = await cookie(bare, await bare.add_key("admin"))
    place = f"127.0.0.1:{bare.port}"
    good: list[dict[str, str]] = [
        {"Sec-Fetch-Site": "same-origin"},
        {"Origin": f"http://{place}"},
    ]
    bad: list[dict[str, str]] = [
        {},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site", "Origin": f"http://{place}"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": "null"},
        {"Origin": "http://evil.example.org"},
        {"Origin": "http://evil.example.org", "X-Forwarded-Host": "evil.example.org"},
        {"Origin": f"http://{place}.evil.example.org"},
        {"Origin": "http://[", "Referer": f"http://{place}/"},
    ]
    for headers in good:
        answer = await bare.post("queues/mail/pause", headers=login | headers)
        assert answer.status == 200, headers
    for headers in bad:
        answer = await bare.post("queues/mail/resume", headers=login | headers)
        assert answer.status == 403, headers
        assert "own pages" in answer.detail
        assert (await bare.get("queues", headers=login | headers)).status == 200
    assert (await bare.get("queues/mail", headers=login)).json["paused"]


async def test_no_route_that_changes_something_can_be_forged(bare: Served) -> None:
    login = await cookie(bare, await bare.add_key("admin"))
    headers = login | {"Origin": "http://evil.example.org", "Sec-Fetch-Site": "cross-site"}
    found = await outcomes(bare, headers)
    changing = {f"{row.method} {row.path}" for row in ROUTES if row.method not in ("GET", "HEAD")}
    public = {f"{row.method} {row.path}" for row in ROUTES if row.is_public}
    refused = changing - public | {"POST /logout"}
    assert {name for name, verdict in found.items() if verdict == "403"} == refused


async def test_a_page_elsewhere_cannot_log_its_visitors_in(bare: Served) -> None:
    key = await bare.add_key("read")
    for headers in ({"Origin": "http://evil.example.org"}, {"Sec-Fetch-Site": "cross-site"}):
        answer = await log_in(bare, key, headers=headers)
        assert answer.status == 403 and "Set-Cookie" not in answer.headers
    form = {"Content-Type": "text/plain"}
    assert (await log_in(bare, key, headers=form)).status == 415


async def test_a_wrong_key_logs_nobody_in_and_soon_nothing_but_a_right_one_is_answered(
    bare: Served,
) -> None:
    key = await bare.add_key("read")
    for _ in range(10):
        answer = await log_in(bare, key[:-1])
        assert answer.status == 401 and "Set-Cookie" not in answer.headers
    answer = await log_in(bare, key[:-1])
    assert answer.status == 429 and int(answer.headers["Retry-After"]) >= 1
    # Who has a key is not concerned, though all may come from the address of one proxy.
    assert (await bare.get("jobs", key=key)).status == 200
    assert (await log_in(bare, key)).status == 200


async def test_right_keys_are_not_counted(bare: Served) -> None:
    key = await bare.add_key("read")
    for _ in range(12):
        assert (await log_in(bare, key)).status == 200


async def test_logging_out_takes_the_cookie_away(bare: Served) -> None:
    key = await bare.add_key("read")
    jar = aiohttp.CookieJar(unsafe=True)
    async with aiohttp.ClientSession(cookie_jar=jar) as browser:
        async with browser.post(f"{bare.url}/login", json={"key": key}) as answer:
            assert answer.status == 200
        async with browser.get(f"{bare.url}/api/v1/jobs") as answer:
            assert answer.status == 200
        async with browser.post(f"{bare.url}/logout", headers=own(bare)) as answer:
            assert (answer.status, await answer.read()) == (204, b"")
        async with browser.get(f"{bare.url}/api/v1/jobs") as answer:
            assert answer.status == 401


async def test_a_key_wins_over_a_login(bare: Served) -> None:
    login = await cookie(bare, await bare.add_key("admin"))
    wrong = await bare.get("jobs", headers=login | {"X-API-Key": "wrong"})
    assert wrong.status == 401
    key = await bare.add_key("operate")
    answer = await bare.post("queues/mail/pause", key=key, headers=login)
    assert answer.status == 200


async def test_without_keys_nobody_needs_to_log_in(bare: Served) -> None:
    me = (await bare.get("me")).json
    assert (me["name"], me["logged_in"], set(me["roles"])) == ("anyone", False, {*Role})
    answer = await log_in(bare, "whatever")
    assert answer.status == 200 and "Set-Cookie" not in answer.headers
    stale = {"Cookie": f"{COOKIE}=wls_of_another_server"}
    assert (await bare.get("me", headers=stale)).json == me
    assert (await bare.post("queues/mail/pause", headers=stale)).status == 200


async def test_logins_are_written_down(bare: Served, caplog: pytest.LogCaptureFixture) -> None:
    key = await bare.add_key("read")
    with caplog.at_level("INFO", "windlass.audit"):
        await log_in(bare, key)
        await log_in(bare, "wrong")
    assert '"action":"log_in"' in caplog.text
    assert key.split("_")[1] in caplog.text
    assert key not in caplog.text
    assert "wrong, revoked or expired" in caplog.text


async def test_each_refusal_of_a_login_or_a_logout_is_written_down_once(
    bare: Served, caplog: pytest.LogCaptureFixture
) -> None:
    key = await bare.add_key("read")
    cookie = morsel(await log_in(bare, key))
    foreign = {"Origin": "http://elsewhere.example"}
    caplog.set_level("INFO", "windlass.audit")
    caplog.clear()
    asked = [await log_in(bare, "wrong") for _ in range(12)]
    asked.append(await log_in(bare, key, headers=foreign))
    asked.append(await bare.post("/login", {"name": key}))
    asked.append(await bare.post("/logout", headers=foreign))
    cookies = {"Cookie": f"{cookie.key}={cookie.value}"}
    asked.append(await bare.post("/logout", headers=foreign | cookies))
    assert {each.status for each in asked} == {400, 401, 403, 429}
    noted = [each for each in caplog.records if each.name == "windlass.audit"]
    assert len(noted) == len(asked)


async def test_what_the_dashboard_needs_to_know_of_the_server(serve: Serve, shop: Shop) -> None:
    api = await serve(shop, redact=("password",))
    me = (await api.get("me")).json
    assert (me["tasks_known"], me["redacts"]) == (True, ["password"])
