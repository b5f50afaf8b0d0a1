"""The options of a command, made from the fields of a settings class.

A field gives the option's name, its type, its default and, by the text below it, its help.
An option that was not given is None: variables, files and defaults are `config.load`'s.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, Literal, TypeVar, get_args, get_origin

import click
import msgspec

from ..config import split_names

_KINDS: Final[Mapping[Any, tuple[Callable[[str], Any], str]]] = {
    int: (int, "N"),
    float: (float, "SECONDS"),
    str: (str, "TEXT"),
    tuple[str, ...]: (split_names, "NAME,NAME"),
}
"""For each type of a field, how an option is read and what its help calls the value."""

F = TypeVar("F", bound=Callable[..., Any])


def settings_options(
    kind: type[msgspec.Struct], short: Mapping[str, str], besides: Collection[str] = ()
) -> Callable[[F], F]:
    """Add one option for each field; `short` has their one-letter forms.

    `besides` are fields for which the command has an option of its own.
    """

    def add(command: F) -> F:
        helps = field_docs(kind)
        for field in reversed(msgspec.structs.fields(kind)):
            if field.name in besides:
                continue
            option = field.name.replace("_", "-")
            # A switch can be turned off too, as a variable or a file may have turned it on.
            is_switch = field.type is bool
            read, metavar = (None, None) if is_switch else _kind(field.type)
            command = click.option(
                *filter(None, [short.get(field.name)]),
                f"--{option}/--no-{option}" if is_switch else f"--{option}",
                field.name,
                type=read,
                metavar=metavar,
                default=None,
                help=helps.get(field.name, "") + _default(field.default),
            )(command)
        return command

    return add


def _kind(type: Any) -> tuple[Any, str | None]:
    """How an option is read, and what its help calls the value."""
    if get_origin(type) is Literal:
        return click.Choice(get_args(type), case_sensitive=False), None
    return _KINDS[type]


def field_docs(kind: type) -> Mapping[str, str]:
    """The text below each field; none where the source was not shipped."""
    try:
        body = ast.parse(inspect.getsource(kind)).body[0]
    except (OSError, SyntaxError):
        return {}
    assert isinstance(body, ast.ClassDef)
    docs: dict[str, str] = {}
    for field, below in zip(body.body, body.body[1:], strict=False):
        match field, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=text)):
                docs[name] = str(text)
    return docs


def written(value: Any) -> str:
    """A value as a flag or a variable would have it."""
    match value:
        case bool():
            return str(value).lower()
        case float() if value.is_integer():
            return str(int(value))
        case tuple():
            return ",".join(value)
    return str(value)


def _default(value: Any) -> str:
    """The default for a help text, which says itself what happens without a value."""
    text = written(value)
    return f"  [default: {text}]" if text else ""
