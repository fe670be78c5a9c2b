"""JSON schemas of function parameters, and validation of values against them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from google.genai import types

_FIELDS = {
    "title": "title",
    "description": "description",
    "enum": "enum",
    "format": "format",
    "pattern": "pattern",
    "default": "default",
    "minimum": "minimum",
    "maximum": "maximum",
    "min_length": "minLength",
    "max_length": "maxLength",
    "min_items": "minItems",
    "max_items": "maxItems",
    "required": "required",
}
_KINDS: dict[str, tuple[str, tuple[type, ...]]] = {
    "object": ("an object {…}", (dict,)),
    "array": ("a list […]", (list,)),
    "string": ("a text", (str,)),
    "integer": ("a whole number", (int,)),
    "number": ("a number", (int, float)),
    "boolean": ("true or false", (bool,)),
    "null": ("null", (type(None),)),
}
MAX_DEPTH = 40  # levels of a value that are validated; a schema may refer to itself


def json_schema(schema: types.Schema) -> dict[str, Any]:
    """Convert a Gemini schema to JSON schema."""
    result: dict[str, Any] = {theirs: getattr(schema, ours) for ours, theirs in _FIELDS.items() if getattr(schema, ours) is not None}
    if schema.type is not None:
        kind = schema.type.value.lower()
        result["type"] = [kind, "null"] if schema.nullable else kind
    if schema.properties is not None:
        result["properties"] = {name: json_schema(one) for name, one in schema.properties.items()}
    if schema.items is not None:
        result["items"] = json_schema(schema.items)
    if schema.any_of is not None:
        result["anyOf"] = [json_schema(one) for one in schema.any_of]
    return result


def parameters_schema(declaration: types.FunctionDeclaration) -> dict[str, Any]:
    """Return a function's parameters as JSON schema."""
    if declaration.parameters_json_schema is not None:
        return dict(declaration.parameters_json_schema)
    return json_schema(declaration.parameters) if declaration.parameters else {"type": "object", "properties": {}}


def misfit(schema: Mapping[str, Any], value: Any) -> str:
    """Return the first mismatch between a value and a schema, as a sentence that names the place; empty if the value fits.

    Only the parts that functions use are checked: types, required and unknown properties, items, choices and bounds.
    """
    return next(_misfits(schema, value, "", schema, 0), "")


def _misfits(schema: Mapping[str, Any], value: Any, path: str, root: Mapping[str, Any], depth: int) -> Iterator[str]:
    schema = resolved(schema, root)
    where = path or "The whole"
    if depth > MAX_DEPTH:
        return
    choices = schema.get("anyOf") or schema.get("oneOf") or ()
    if choices:
        found = [next(_misfits(choice, value, path, root, depth + 1), "") for choice in choices]
        if all(found):
            yield found[0] if len(found) == 1 else f"{where}: {_shown(value)} fits none of what is expected."
        return
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(_is(kind, value) for kind in kinds):
        expected = " or ".join(_KINDS[kind][0] for kind in kinds if kind in _KINDS)
        yield f"{where}: {expected} is expected, not {_shown(value)}."
        return
    if schema.get("enum") is not None and value not in schema["enum"] and not (value is None and "null" in kinds):
        yield f"{where}: {_shown(value)} is none of {', '.join(map(str, schema['enum']))}."
    yield from _out_of_bounds(schema, value, where)
    if isinstance(value, dict):
        yield from _properties(schema, value, path, root, depth)
    if isinstance(value, list) and isinstance(schema.get("items"), Mapping):
        for number, item in enumerate(value):
            yield from _misfits(schema["items"], item, f"{path}[{number}]", root, depth + 1)


def _properties(schema: Mapping[str, Any], value: dict[str, Any], path: str, root: Mapping[str, Any], depth: int) -> Iterator[str]:
    known = schema.get("properties")
    for name in schema.get("required") or ():
        if name not in value:
            yield f"{_below(path, name)}: is missing."
    if known is None:
        return
    for name, item in value.items():
        if name in known:
            yield from _misfits(known[name], item, _below(path, name), root, depth + 1)
        elif not schema.get("additionalProperties"):
            yield f"{_below(path, name)}: there is no such argument. Known: {', '.join(known) or 'none'}."


def _out_of_bounds(schema: Mapping[str, Any], value: Any, where: str) -> Iterator[str]:
    measured = value if isinstance(value, (int, float)) and not isinstance(value, bool) else None
    length = len(value) if isinstance(value, (str, list)) else None
    what = "characters" if isinstance(value, str) else "items"
    least, most = ("minLength", "maxLength") if isinstance(value, str) else ("minItems", "maxItems")
    checks: tuple[tuple[str, float | None, Callable[[float, float], bool], str], ...] = (
        ("minimum", measured, lambda number, bound: number < bound, "at least {}"),
        ("maximum", measured, lambda number, bound: number > bound, "at most {}"),
        (least, length, lambda number, bound: number < bound, f"at least {{}} {what}"),
        (most, length, lambda number, bound: number > bound, f"at most {{}} {what}"),
    )
    for key, number, is_out, words in checks:
        if number is not None and schema.get(key) is not None and is_out(number, float(schema[key])):
            yield f"{where}: {words.format(schema[key])} is expected, not {_shown(value)}."


def resolved(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the definition in `root` that a schema refers to, or the schema itself."""
    for _ in range(MAX_DEPTH):
        if "$ref" not in schema:
            break
        name = str(schema["$ref"]).rpartition("/")[2]
        schema = root.get("$defs", {}).get(name, {})
    return schema


def _is(kind: str, value: Any) -> bool:
    if kind not in _KINDS:
        return True
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _KINDS[kind][1]) or (kind == "integer" and isinstance(value, float) and value.is_integer())


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _shown(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (ValueError, TypeError, RecursionError):
        text = repr(value)
    return text if len(text) <= 60 else text[:60] + "…"
