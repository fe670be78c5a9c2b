from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector_app.presentation.form_fields import FormField, fields_of_call, fields_of_schema, fields_of_value, read, text_of

RECEIPT = {
    "type": "object",
    "properties": {
        "status": {"enum": ["approved", "rejected"], "type": "string"},
        "pages": {"type": "integer", "description": "how many"},
        "cost": {"anyOf": [{"type": "number"}, {"type": "null"}], "default": None},
        "urgent": {"type": "boolean", "default": True},
        "note": {"type": "string"},
        "sent_to": {"$ref": "#/$defs/Address"},
    },
    "required": ["status", "pages", "sent_to"],
    "$defs": {"Address": {"type": "object", "properties": {"street": {"type": "string"}}}},
}


def test_a_schema_makes_a_field_for_each_property() -> None:
    fields = fields_of_schema(RECEIPT)
    assert fields is not None
    assert [(field.key, field.kind, field.required) for field in fields] == [
        ("status", "choice", True),
        ("pages", "whole number", True),
        ("cost", "number", False),
        ("urgent", "yes or no", False),
        ("note", "text", False),
        ("sent_to", "JSON", True),
    ]
    assert fields[0].choices == ("approved", "rejected") and fields[1].hint == "how many" and fields[3].value is True


@pytest.mark.parametrize("schema", [None, {"type": "string"}, {"type": "object"}, {"properties": {str(one): {} for one in range(9)}}])
def test_schemas_other_than_small_objects_make_no_fields(schema: Any) -> None:
    assert fields_of_schema(schema) is None


@pytest.mark.parametrize("value", [[1], "x", {}, {"deep": {}}, {"long": "x" * 201}, {"lines": "a\nb"}, {str(one): one for one in range(9)}])
def test_values_other_than_small_flat_objects_make_no_fields(value: Any) -> None:
    assert fields_of_value(value) is None


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("text", "3", "3"),
        ("secret", "s", "s"),
        ("whole number", "3", 3),
        ("number", "2.5", 2.5),
        ("JSON", "[1]", [1]),
        ("JSON", "null", None),
    ],
)
def test_typed_text_is_read_as_the_fields_kind(kind: Any, text: str, value: Any) -> None:
    assert read(FormField("x", kind), text) == value


@pytest.mark.parametrize(
    ("kind", "text", "problem"),
    [
        ("text", "", "empty"),
        ("secret", "", "empty"),
        ("whole number", "", "empty"),
        ("whole number", "2.5", "whole number"),
        ("number", "true", "number"),
        ("number", "NaN", "number"),
        ("JSON", "{", "JSON value"),
        ("JSON", "[" * 100_000, "JSON value"),
    ],
)
def test_text_of_another_kind_is_rejected(kind: Any, text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        read(FormField("x", kind), text)


def test_an_empty_text_value_stays_empty() -> None:
    fields = fields_of_value({"note": ""})
    assert fields is not None and read(fields[0], "") == ""


TYPES = ("string", "integer", "number", "boolean", "array", "object")
PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
KEYS = st.sampled_from("abcd")
ARGS = st.dictionaries(KEYS, PLAIN | st.lists(PLAIN, max_size=3) | st.dictionaries(st.text(max_size=3), PLAIN, max_size=2))


KINDS = st.sampled_from(TYPES).map(lambda kind: {"type": kind})
CHOICES = st.lists(st.text(max_size=3), min_size=1).map(lambda words: {"enum": words})


@given(properties=st.dictionaries(KEYS, KINDS | CHOICES, min_size=1), required=st.sets(KEYS), args=ARGS)
def test_fields_of_a_call_give_back_its_arguments(properties: dict[str, Any], required: set[str], args: dict[str, Any]) -> None:
    fields = fields_of_call({"properties": properties, "required": sorted(required)}, args)
    if fields is None:
        return
    found = {}
    for field in fields:
        text = text_of(field)
        if field.kind == "yes or no":
            found[field.key] = bool(field.value)
        elif field.required or text:
            found[field.key] = read(field, text)
    assert {key: repr(value) for key, value in found.items()} == {key: repr(value) for key, value in args.items()}


@pytest.mark.parametrize(
    ("args", "kinds"),
    [
        ({"a": "x", "b": 1}, ["text", "whole number"]),
        ({"a": 1, "b": "1"}, ["JSON", "JSON"]),
        ({}, ["text", "whole number"]),
        ({"a": "x", "c": 1}, None),
        ({"a": "two\nlines", "b": 1}, None),
        ({"a": "x" * 300}, None),
        ({"a": "tab\t"}, None),
        ({"a": float("nan")}, None),
    ],
)
def test_a_call_has_fields_where_a_line_holds_each_argument(args: dict[str, Any], kinds: list[str] | None) -> None:
    fields = fields_of_call({"properties": {"a": {"type": "string"}, "b": {"type": "integer"}}}, args)
    assert (fields and [field.kind for field in fields]) == kinds


def test_a_call_of_a_tool_without_a_schema_has_no_fields() -> None:
    assert fields_of_call(None, {"a": 1}) is None
    assert fields_of_call({"properties": {}}, {}) is None
    assert fields_of_call({"properties": {f"k{number}": {} for number in range(9)}}, {}) is None
