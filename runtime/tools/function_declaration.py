"""Function declarations for models."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from google.genai import types
from pydantic import TypeAdapter
from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError
from pydantic_core import PydanticSerializationError, to_jsonable_python

from runtime.errors.known_error import KnownError
from runtime.tools.function_signature import Argument

_FORMATS = {"date-time", "int32", "int64", "float", "double"}
_COPIED = {
    "description": "description",
    "default": "default",
    "minimum": "minimum",
    "maximum": "maximum",
    "pattern": "pattern",
    "minLength": "min_length",
    "maxLength": "max_length",
    "minItems": "min_items",
    "maxItems": "max_items",
}


class ToolDeclarationError(KnownError, ValueError):
    """Raised when a function cannot be declared to a model. Also a `ValueError`, as in google-adk."""


def declare(name: str, description: str, arguments: Sequence[Argument]) -> types.FunctionDeclaration:
    """Return a function's declaration.

    Types become Gemini's `Schema`, which is less expressive than JSON schema: titles, the types of a tuple's items and the like are
    lost. `Schema` cannot express recursive types; with one of these, the whole declaration is JSON schema.

    Args:
        name: the function's name.
        description: the text for the model: the docstring with its `Args:` section.
        arguments: the arguments that the model supplies.

    Raises:
        ToolDeclarationError: an argument's type cannot be expressed as JSON.
    """
    declaration = types.FunctionDeclaration(name=name, description=description or None)
    if not arguments:
        return declaration
    schemas = {argument.name: _json_schema(name, argument) for argument in arguments}
    required = [argument.name for argument in arguments if argument.is_mandatory]
    try:
        declaration.parameters = types.Schema(
            type=types.Type.OBJECT,
            properties={key: _schema(schema, schema.get("$defs", {}), ()) for key, schema in schemas.items()},
            required=required or None,
        )
    except _RefersToItselfError:
        definitions = {key: value for schema in schemas.values() for key, value in schema.pop("$defs", {}).items()}
        declaration.parameters_json_schema = {"type": "object", "properties": schemas, "required": required, "$defs": definitions}
    return declaration


def _json_schema(name: str, argument: Argument) -> dict[str, Any]:
    try:
        schema = TypeAdapter(argument.annotation).json_schema()
    except (PydanticSchemaGenerationError, PydanticUserError) as error:
        raise ToolDeclarationError(
            f"The tool {name}() cannot be declared to a model: JSON cannot express its parameter {argument.name!r} of type "
            f"{inspect.formatannotation(argument.annotation)}. Use str, int, float, bool, list, dict, Literal, an Enum or a pydantic "
            f"model. ({str(error).splitlines()[0]})"
        ) from error
    if not argument.is_mandatory:
        _add_default(schema, argument.default)
    return schema


def _add_default(schema: dict[str, Any], default: Any) -> None:
    if default is None:
        schema["nullable"] = True
        return
    try:
        schema["default"] = to_jsonable_python(default)
    except (PydanticSerializationError, UnicodeDecodeError):
        return  # the model needs no default that is not JSON


class _RefersToItselfError(Exception):
    """Raised when a type refers to itself."""


def _schema(json: dict[str, Any], definitions: dict[str, Any], inside: tuple[str, ...]) -> types.Schema:
    """Convert JSON schema to Gemini's schema; `inside` are the names of the enclosing definitions."""
    if "$ref" in json:
        reference = json["$ref"].rpartition("/")[2]
        if reference in inside:
            raise _RefersToItselfError
        own = {key: value for key, value in json.items() if key != "$ref"}
        return _schema({**definitions[reference], **own}, definitions, (*inside, reference))

    def inner(part: dict[str, Any]) -> types.Schema:
        return _schema(part, definitions, inside)

    schema = types.Schema(**{ours: json[theirs] for theirs, ours in _COPIED.items() if theirs in json})
    schema.nullable = json.get("nullable")
    if "type" in json:
        schema.type = types.Type(json["type"].upper())
    if json.get("format") in _FORMATS:
        schema.format = json["format"]
    _add_choices(schema, json, inner)
    if json.get("type") == "array":
        items = json.get("items") or {"anyOf": json.get("prefixItems", [])}
        schema.items = inner(items if items.get("anyOf", True) else {})
    if "properties" in json:
        schema.properties = {key: inner(value) for key, value in json["properties"].items()}
        schema.required = json.get("required")
    return schema


def _add_choices(schema: types.Schema, json: dict[str, Any], inner: Callable[[dict[str, Any]], types.Schema]) -> None:
    values = json.get("enum", [json["const"]] if "const" in json else [])
    if values and all(isinstance(value, str) for value in values):
        schema.type, schema.enum = types.Type.STRING, values
    elif values:
        # Gemini's enums are strings; other values can only be described.
        schema.description = " ".join(filter(None, (schema.description, f"One of: {', '.join(map(str, values))}.")))
    choices = [choice for choice in json.get("anyOf", json.get("oneOf", ())) if choice.get("type") != "null"]
    if len(choices) < len(json.get("anyOf", ())):
        schema.nullable = True
    if len(choices) == 1:
        only = inner(choices[0])
        for field in only.model_fields_set - schema.model_fields_set | {
            "type",
            "enum",
            "items",
            "properties",
            "required",
            "any_of",
            "format",
        }:
            setattr(schema, field, getattr(only, field))
    elif choices:
        schema.any_of = [inner(choice) for choice in choices]
