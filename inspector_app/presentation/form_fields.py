"""The fields of a form, built from a value or a JSON schema, and their values. Pure, no Qt."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from inspector_app.presentation.json_text import parse_json
from runtime.support.json_schema import resolved

Kind = Literal["text", "secret", "whole number", "number", "yes or no", "choice", "JSON"]

MAX_FIELDS = 8


@dataclass(frozen=True, slots=True)
class FormField:
    """One field.

    Attributes:
        key: the field's key in the resulting object.
        kind: the type of its value; a `secret` is masked during typing.
        value: the initial value; None: empty, or null for the kind `JSON`.
        required: whether an empty field is an error; otherwise it is left out.
        keeps_empty: whether an empty text is a valid value.
        choices: the values of the kind `choice`.
        label: the text beside the field, if it is not the key.
        hint: the placeholder in the empty field.
        rule: a line below the field, which its problem replaces; empty for none.
    """

    key: str
    kind: Kind
    value: Any = None
    required: bool = True
    keeps_empty: bool = False
    choices: tuple[str, ...] = ()
    label: str = ""
    hint: str = ""
    rule: str = ""


def fields_of_value(value: Any) -> list[FormField] | None:
    """Return fields for editing a value without changing its types; None unless it is a small flat object."""
    if not isinstance(value, dict) or not 0 < len(value) <= MAX_FIELDS or not all(_is_plain(item) for item in value.values()):
        return None
    return [FormField(key, _kind_of(item), item, keeps_empty=isinstance(item, str)) for key, item in value.items()]


def fields_of_schema(schema: Mapping[str, Any] | None) -> list[FormField] | None:
    """Return fields for the object that a schema describes; None unless it is a small flat object."""
    if schema is None:
        return None
    properties = schema.get("properties") or {}
    if not 0 < len(properties) <= MAX_FIELDS:
        return None
    required = set(schema.get("required") or ())
    return [_field(key, resolved(one, schema), key in required) for key, one in properties.items()]


def fields_of_call(schema: Mapping[str, Any] | None, args: Mapping[str, Any]) -> list[FormField] | None:
    """Return fields for editing a call's arguments, each as it is; None unless the schema names them all and one line holds each.

    Args:
        schema: of the arguments, a JSON schema.
        args: the arguments as the model gave them, which may not fit the schema.
    """
    fields = fields_of_schema(schema)
    if schema is None or fields is None or not args.keys() <= {field.key for field in fields}:
        return None
    found = [_as_given(field, args) for field in fields]
    return found if all(map(_is_one_line, found)) else None


def text_of(field: FormField) -> str:
    """Return the text of a field's value, as `read` reads it."""
    if field.kind in ("text", "secret", "choice"):
        return str(field.value or "")
    return json.dumps(field.value, ensure_ascii=False) if field.value is not None or (field.kind == "JSON" and field.required) else ""


def _as_given(field: FormField, args: Mapping[str, Any]) -> FormField:
    """Return a field that has an argument's value of any type; one that is missing stays empty, without its default."""
    rule = f"{field.kind}, {'required' if field.required else 'may be left out'}"
    if field.key not in args:
        # A box is never empty.
        kind: Kind = "JSON" if field.kind == "yes or no" else field.kind
        return replace(field, value=None, kind=kind, required=False, rule=rule)
    value = args[field.key]
    fits = _kind_of(value) == field.kind or (field.kind == "number" and _kind_of(value) == "whole number") or value in field.choices
    required = field.required or value in ("", None)
    return replace(field, value=value, kind=field.kind if fits else "JSON", required=required, keeps_empty=field.kind == "text", rule=rule)


def _is_one_line(field: FormField) -> bool:
    """Return whether a line of text holds the field's value, and gives it back as it is."""
    text = text_of(field)
    if not text.isprintable() or len(text) > 200:
        return False
    try:
        return field.kind == "yes or no" or (not text and not field.keeps_empty) or repr(read(field, text)) == repr(field.value)
    except ValueError:
        return False


def read(field: FormField, text: str) -> Any:
    """Return the field's value.

    Args:
        field: a field of any kind but `yes or no`, which is not text.
        text: the text as typed.

    Raises:
        ValueError: the text is not of the field's kind; the message says what is expected.
    """
    if field.kind in ("text", "secret", "choice"):
        if not text and not field.keeps_empty and text not in field.choices:
            raise ValueError("it is empty.")
        return text
    if not text.strip() and field.required:
        raise ValueError("it is empty.")
    try:
        value = parse_json(text)
    except ValueError:
        value = NotImplemented
    if field.kind == "JSON":
        if value is NotImplemented:
            raise ValueError("a JSON value is expected; put text in double quotes.")
        return value
    kinds = (int,) if field.kind == "whole number" else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds):
        raise ValueError(f"a {field.kind} is expected.")
    return value


def _is_plain(item: Any) -> bool:
    return item is None or isinstance(item, (bool, int, float)) or (isinstance(item, str) and "\n" not in item and len(item) <= 200)


def _kind_of(item: Any) -> Kind:
    if isinstance(item, bool):
        return "yes or no"
    if isinstance(item, int):
        return "whole number"
    return "number" if isinstance(item, float) else "text" if isinstance(item, str) else "JSON"


def _field(key: str, schema: Mapping[str, Any], required: bool) -> FormField:
    choices = [one for one in schema.get("anyOf") or () if one.get("type") != "null"]
    one = choices[0] if len(choices) == 1 else schema
    hint = str(schema.get("description") or "")
    enum = one.get("enum") or ([one["const"]] if "const" in one else [])
    if enum and all(isinstance(value, str) for value in enum):
        return FormField(key, "choice", schema.get("default"), required, choices=tuple(enum), hint=hint)
    kinds: dict[Any, Kind] = {"string": "text", "integer": "whole number", "number": "number", "boolean": "yes or no"}
    kind = one.get("type")
    return FormField(key, kinds.get(kind, "JSON") if isinstance(kind, str) else "JSON", schema.get("default"), required, hint=hint)
