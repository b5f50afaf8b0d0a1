"""The reference page: the OpenAPI description as plain HTML, without a script."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any, Final

from ..faults import KINDS, status_of
from .problem import slug

STYLE: Final = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid color-mix(in srgb, currentColor 25%, transparent); }
code, pre { font: 0.9em ui-monospace, monospace; }
details { margin: 0.4rem 0; padding: 0.4rem 0.8rem; border-radius: 6px;
  background: color-mix(in srgb, currentColor 6%, transparent); }
summary { cursor: pointer; }
.method { display: inline-block; min-width: 4.2em; font-weight: 700; }
.role { float: right; opacity: 0.7; }
table { border-collapse: collapse; } td, th { padding: 0.15rem 1rem 0.15rem 0; text-align: left; }
"""  # noqa: E501


def page_of(description: dict[str, Any]) -> str:
    """The page for a description."""
    return "".join(_parts(description))


def _parts(description: dict[str, Any]) -> Iterator[str]:
    info = description["info"]
    yield '<!doctype html><html lang="en"><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{escape(info['title'])} API</title><style>{STYLE}</style>"
    yield f"<h1>{escape(info['title'])} {escape(info['version'])}: HTTP API</h1>"
    yield f"<p>{escape(info['description'])} A key goes into <code>X-API-Key</code> or "
    yield "<code>Authorization: Bearer</code>. Bodies are JSON or MessagePack. For programs: "
    yield '<a href="api/v1/openapi.json">openapi.json</a>.</p>'
    for tag in description["tags"]:
        yield f"<h2>{escape(tag['name'])}</h2>"
        for path, methods in description["paths"].items():
            for method, operation in methods.items():
                if tag["name"] in operation["tags"]:
                    yield from _operation(path, method, operation)
    yield "<h2>Types</h2>"
    for name, schema in description["components"]["schemas"].items():
        yield from _type(name, schema)
    yield "<h2>Problems</h2><table><tr><th>error<th>status<th>what it says</tr>"
    for kind in KINDS:
        said = escape((kind.__doc__ or "").partition("\n")[0])
        status = status_of(kind)
        yield f'<tr id="{slug(kind.__name__)}"><td><code>{kind.__name__}</code>'
        yield f"<td>{status}<td>{said}</tr>"
    yield "</table></html>"


def _operation(path: str, method: str, operation: dict[str, Any]) -> Iterator[str]:
    rule = operation.get("x-role") or ("everybody" if "security" in operation else "any key")
    yield f'<details><summary><span class="method">{method.upper()}</span> '
    yield f"<code>{escape(path)}</code> {escape(operation['summary'])}"
    yield f'<span class="role">{escape(rule)}</span></summary>'
    if "description" in operation:
        yield f"<p>{escape(operation['description'])}</p>"
    for parameter in operation.get("parameters", ()):
        shape = escape(_shape(parameter["schema"]))
        yield f"<div><code>{escape(parameter['name'])}</code> in {parameter['in']}: {shape}</div>"
    if "requestBody" in operation:
        content = next(iter(operation["requestBody"]["content"].values()))
        yield f"<div>Body: {_linked(content['schema'])}</div>"
    for status, answer in operation["responses"].items():
        if "$ref" not in answer:
            content = [*answer.get("content", {}).values()]
            yield f"<div>{status}: {_linked(content[0]['schema']) if content else 'no JSON'}</div>"
    yield "</details>"


def _type(name: str, schema: dict[str, Any]) -> Iterator[str]:
    yield f'<details id="{escape(name)}"><summary><code>{escape(name)}</code> '
    yield f"{escape(schema.get('description', ''))}</summary><table>"
    required = schema.get("required", ())
    for field, kind in schema.get("properties", {}).items():
        must = "" if field in required else "optional"
        yield f"<tr><td><code>{escape(field)}</code><td>{_linked(kind)}<td>{must}</tr>"
    yield "</table></details>"


def _linked(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f'<a href="#{name}"><code>{name}</code></a>'
    if "items" in schema and isinstance(schema["items"], dict):
        return f"list of {_linked(schema['items'])}"
    return escape(_shape(schema))


def _shape(schema: dict[str, Any]) -> str:
    """A schema in a few words."""
    if "anyOf" in schema:
        return " or ".join(map(_shape, schema["anyOf"]))
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    kind = str(schema.get("format") or schema.get("type") or "anything")
    if kind == "array":
        return f"list of {_shape(schema.get('items') or {})}"
    return kind
