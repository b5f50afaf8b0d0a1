"""The OpenAPI 3.1 description, made of the table of routes and of its types."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from ... import __version__
from .problem import Problem
from .route import Route

REF: Final = "#/components/schemas/{name}"
DIALECT: Final = "3.1.0"
PROBLEMS: Final = {
    "400": "The request cannot be read.",
    "401": "There is no API key, or it is wrong, revoked or expired.",
    "403": "The key does not allow it.",
    "404": "There is no such thing.",
    "405": "This address has no such method.",
    "408": "The request took too long to arrive.",
    "409": "The state of the job does not allow it.",
    "413": "The request is too large.",
    "415": "The body is in a format that is not read here.",
    "422": "A value is not one that can be.",
    "429": "Too many requests of this key.",
    "431": "The head of the request is too large.",
    "500": "The server failed.",
    "503": "The store does not answer, or the server is stopping.",
    "504": "It took too long.",
}
WITHOUT_KEY: Final = ("401", "403", "429")
FORMATS: Final = ("application/json", "application/msgpack")
TEXT: Final = {"type": "string", "minLength": 1, "maxLength": 128}


def describe(routes: Sequence[Route]) -> dict[str, Any]:
    """The whole description."""
    kinds = [kind for route in routes for kind in _kinds(route)]
    schemas, components = msgspec.json.schema_components(
        [*dict.fromkeys(kinds), Problem], ref_template=REF
    )
    known = dict(zip(dict.fromkeys(kinds), schemas, strict=False))
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, known)
    return {
        "openapi": DIALECT,
        "info": {
            "title": "Windlass",
            "version": __version__,
            "description": "Jobs, queues, schedules and workers of a Windlass store.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "security": [{"apiKey": []}, {"bearer": []}],
        "tags": [{"name": tag} for tag in dict.fromkeys(route.tag for route in routes)],
        "paths": paths,
        "components": {
            "schemas": _sorted(components),
            "responses": {name: _problem(text) for name, text in PROBLEMS.items()},
            "securitySchemes": {
                "apiKey": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
                "bearer": {"type": "http", "scheme": "bearer"},
            },
        },
    }


def _kinds(route: Route) -> list[Any]:
    answers = [kind for kind in route.answers.values() if _is_json(kind)]
    body = [] if route.body is None else [route.body]
    return [route.query, *body, *answers]


def _is_json(kind: Any) -> bool:
    return kind is not None and not isinstance(kind, str)


def _operation(route: Route, known: dict[Any, Any]) -> dict[str, Any]:
    summary, _, more = (inspect.getdoc(route.handler) or "").partition("\n")
    operation: dict[str, Any] = {
        "operationId": route.name,
        "summary": summary.rstrip("."),
        "tags": [route.tag],
        "responses": _responses(route, known),
    }
    if more.strip():
        operation["description"] = more.strip()
    if route.is_public:
        operation["security"] = []
    if parameters := _parameters(route):
        operation["parameters"] = parameters
    if route.role is not None:
        operation["x-role"] = route.role.value
    if route.body is not None:
        schema = known[route.body]
        operation["requestBody"] = {
            "required": not route.body_optional,
            "content": {kind: {"schema": schema} for kind in FORMATS},
        }
    elif route.is_raw:
        content = {"application/msgpack": {"schema": {"type": "string", "format": "binary"}}}
        operation["requestBody"] = {"required": True, "content": content}
    return operation


def _parameters(route: Route) -> list[dict[str, Any]]:
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": TEXT} for name in route.parameters
    ]
    parameters += [
        {"name": name, "in": "header", "required": False, "schema": TEXT} for name in route.headers
    ]
    (schema,), components = msgspec.json.schema_components([route.query], ref_template=REF)
    own = components[schema["$ref"].rpartition("/")[2]]
    for name, field in own.get("properties", {}).items():
        schema = _given(_inlined(field, components))
        parameters.append({"name": name, "in": "query", "required": False, "schema": schema})
    return parameters


def _given(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of a parameter that is there: to leave it out is all that stands for null."""
    match schema:
        case {"anyOf": [dict() as own, {"type": "null"}], "default": None}:
            return own
    return schema


def _inlined(schema: Any, components: dict[str, Any]) -> Any:
    """A schema without references: parameters are small, and their types are nobody else's."""
    match schema:
        case {"$ref": str(ref)}:
            return _inlined(components[ref.rpartition("/")[2]], components)
        case dict():
            return {key: _inlined(value, components) for key, value in schema.items()}
        case list():
            return [_inlined(value, components) for value in schema]
    return schema


def _responses(route: Route, known: dict[Any, Any]) -> dict[str, Any]:
    responses: dict[str, Any] = {}
    for status, kind in sorted(route.answers.items()):
        answer: dict[str, Any] = {"description": "Done."}
        if _is_json(kind):
            answer["content"] = {name: {"schema": known[kind]} for name in FORMATS}
        elif kind is not None:
            answer["content"] = {kind: {"schema": {} if kind in FORMATS else {"type": "string"}}}
        responses[str(status)] = answer
    asks_nobody = route.is_public and route.method == "GET"
    for problem in PROBLEMS:
        if not (asks_nobody and problem in WITHOUT_KEY):
            responses[problem] = {"$ref": f"#/components/responses/{problem}"}
    return responses


def _problem(text: str) -> dict[str, Any]:
    schema = {"$ref": REF.format(name="Problem")}
    return {"description": text, "content": {"application/problem+json": {"schema": schema}}}


def _sorted(components: dict[str, Any]) -> dict[str, Any]:
    for schema in components.values():
        if "description" in schema:
            schema["description"] = " ".join(schema["description"].split())
    return dict(sorted(components.items()))
