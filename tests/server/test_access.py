"""Who may do what: every row of the table of routes with every kind of key."""

from collections.abc import Mapping

import pytest

from tests.server.serving import Served
from windlass.core.apikey import IMPLIED, Role, new_key
from windlass.server.http.route import PUBLIC, Route, route
from windlass.server.http.routes import ROUTES

PUBLIC_ROUTES = {"/api/v1/openapi.json", "/docs", "/livez", "/readyz", "/login", "/logout"}
"""Add one only if nobody needs a key for it."""

ANY_KEY = {"/api/v1/store/{procedure}", "/api/v1/me"}
"""Where the function that answers looks at the role itself, or every caller is told."""


def address(row: Route) -> str:
    """An address of a route at which there is nothing; every key may ping."""
    return row.path.replace("{procedure}", "ping").replace("{id}", "none").replace("{name}", "none")


async def status(api: Served, row: Route, headers: Mapping[str, str]) -> int:
    """How a request without a body is answered; streams are not waited for."""
    async with api.session.request(row.method, api.url + address(row), headers=headers) as answer:
        if answer.status in (401, 403):
            assert answer.headers["Content-Type"] == "application/problem+json"
        if answer.status == 401:
            assert answer.headers["WWW-Authenticate"] == 'Bearer realm="windlass"'
        return answer.status


async def outcomes(api: Served, headers: Mapping[str, str]) -> dict[str, str]:
    """For each route: 401, 403, or allowed."""
    found = {}
    for row in ROUTES:
        got = await status(api, row, headers)
        assert got < 500, row
        found[f"{row.method} {row.path}"] = str(got) if got in (401, 403) else "allowed"
    return found


def expected(roles: frozenset[Role]) -> dict[str, str]:
    """The same by the table; without roles there is no key that counts."""
    return {f"{row.method} {row.path}": _verdict(row, roles) for row in ROUTES}


def _verdict(row: Route, roles: frozenset[Role]) -> str:
    if row.is_public:
        return "allowed"
    if not roles:
        return "401"
    return "allowed" if row.role is None or row.role in roles else "403"


async def test_nobody_without_a_key_is_let_in(bare: Served) -> None:
    await bare.add_key("admin")
    assert await outcomes(bare, {}) == expected(frozenset())


async def test_a_wrong_key_is_as_good_as_none(bare: Served) -> None:
    right = await bare.add_key("admin")
    wrong = right[:-1] + ("A" if right[-1] != "A" else "B")
    for text in (wrong, new_key(["admin"]).text, "wl_x_y", "secret", "§"):
        headers = {"X-API-Key": text}
        assert (await bare.get("jobs", headers=headers)).status == 401, text
    assert await outcomes(bare, {"X-API-Key": wrong}) == expected(frozenset())


async def test_a_key_that_is_over_is_as_good_as_none(bare: Served) -> None:
    over = await bare.add_key("admin", expires_in=0)
    assert await outcomes(bare, {"X-API-Key": over}) == expected(frozenset())


@pytest.mark.parametrize("role", [*Role])
async def test_a_role_opens_its_routes_and_no_others(bare: Served, role: Role) -> None:
    key = await bare.add_key(role)
    assert await outcomes(bare, {"X-API-Key": key}) == expected(IMPLIED[role])


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.ADMIN])
async def test_a_key_with_queues_has_no_more_than_its_role(bare: Served, role: Role) -> None:
    key = await bare.add_key(role, queues=["none"])
    # Searching all of history is beyond any such key.
    search = {"GET /api/v1/history"} if Role.READ in IMPLIED[role] else set()
    found, wanted = await outcomes(bare, {"X-API-Key": key}), expected(IMPLIED[role])
    assert {name for name in found if found[name] != wanted[name]} == search


async def test_a_key_may_also_be_a_bearer(bare: Served) -> None:
    key = await bare.add_key("operate")
    bearer = {"Authorization": f"Bearer {key}"}
    assert await outcomes(bare, bearer) == expected(IMPLIED[Role.OPERATE])
    assert (await bare.get("jobs", headers={"Authorization": f"bearer  {key} "})).status == 200
    assert (await bare.get("jobs", headers={"Authorization": f"Basic {key}"})).status == 401
    both = {"Authorization": f"Bearer {key}", "X-API-Key": "wrong"}
    assert (await bare.get("jobs", headers=both)).status == 401


async def test_the_head_of_an_address_needs_what_the_whole_does(bare: Served) -> None:
    await bare.add_key("admin")
    for row in ROUTES:
        if row.method == "GET":
            answer = await bare("HEAD", address(row))
            assert answer.status == (200 if row.is_public else 401), row
            assert answer.body == b""


async def test_a_refusal_says_which_role_is_needed(bare: Served) -> None:
    key = await bare.add_key("read", "enqueue")
    answer = await bare.post("queues/mail/pause", key=key)
    assert answer.json["error"] == "Forbidden"
    assert "needs a key with the role operate" in answer.detail
    assert "has read, enqueue" in answer.detail
    assert key not in answer.detail


async def test_methods_that_are_not_in_the_table_are_405_or_nowhere(bare: Served) -> None:
    methods = {"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"}
    by_path: dict[str, set[str]] = {}
    for row in ROUTES:
        by_path.setdefault(address(row), set()).add(row.method)
    for path, known in by_path.items():
        for method in methods - known:
            answer = await bare(method, path)
            assert answer.status == 405, (method, path)
            allowed = {name.strip() for name in answer.headers["Allow"].split(",")}
            assert allowed - {"HEAD"} == known


def test_every_route_has_a_rule() -> None:
    assert {row.path for row in ROUTES if row.is_public} == PUBLIC_ROUTES
    ruleless = {row.path for row in ROUTES if row.role is None and not row.is_public}
    assert ruleless == ANY_KEY


def test_a_route_without_a_rule_cannot_be_written() -> None:
    for rule in ("", "pubic", None):
        with pytest.raises(ValueError, match="has no rule"):
            route("GET", "/x", rule, ROUTES[0].handler)  # type: ignore[arg-type]
    assert route("GET", "/x", PUBLIC, ROUTES[0].handler).is_public


def test_no_two_rows_are_for_the_same() -> None:
    pairs = [(row.method, row.path) for row in ROUTES]
    assert len({*pairs}) == len(pairs)
    names = [row.name for row in ROUTES]
    assert len({*names}) == len(names)
