"""The fields of a form, built from a value or a JSON schema, and their values. Pure, no Qt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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
    """

    key: str
    kind: Kind
    value: Any = None
    required: bool = True
    keeps_empty: bool = False
    choices: tuple[str, ...] = ()
    label: str = ""
    hint: str = ""


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


def read(field: FormField, text: str) -> Any:
    """Return the field's value.

    Args:
        field: a field of any kind but `yes or no`, which is not text.
        text: the text as typed.

    Raises:
        ValueError: the text is not of the field's kind; the message says what is expected.
    """
    if field.kind in ("text", "secret", "choice"):
        if not text and not field.keeps_empty:
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
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError("a number is expected.")
    if field.kind == "whole number" and not isinstance(value, int):
        raise ValueError("a whole number is expected.")
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
