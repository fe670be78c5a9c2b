"""JSON schemas of tools' parameters and results, and validation of values."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from pydantic import BaseModel

from runtime.support.json_schema import misfit, parameters_schema
from runtime.tools import FunctionTool, LongRunningFunctionTool
from runtime.tools.response_schema import response_schema


class Address(BaseModel):
    street: str
    zip: int | None = None


class Node(BaseModel):
    name: str
    children: list[Node] = []


class Receipt(BaseModel):
    status: Literal["approved", "rejected"]
    pages: int


def pay(
    amount: float, to: str, times: int = 1, urgent: bool = False, way: Literal["post", "wire"] = "wire", tags: list[str] | None = None
) -> dict:
    """Pay."""
    return {}


def send(address: Address) -> Receipt:
    """Send."""
    return Receipt(status="approved", pages=1)


def plant(tree: Node) -> Receipt | None:
    """Plant."""


def schema_of(func: Any) -> dict[str, Any]:
    declaration = FunctionTool(func)._get_declaration()
    assert declaration is not None
    return parameters_schema(declaration)


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        ({"amount": 5, "to": "maria"}, ""),
        ({"amount": 5.5, "to": "maria", "times": 2, "urgent": True, "way": "post", "tags": ["a"]}, ""),
        ({"amount": 5, "to": "maria", "tags": None}, ""),
        ({"amount": 5, "to": "maria", "times": 2.0}, ""),
        ({"amount": "5", "to": "maria"}, 'amount: a number is expected, not "5".'),
        ({"amount": True, "to": "maria"}, "amount: a number is expected, not true."),
        ({"to": "maria"}, "amount: is missing."),
        ({"amount": 5, "to": None}, "to: a text is expected, not null."),
        ({"amount": 5, "to": "maria", "times": 1.5}, "times: a whole number is expected, not 1.5."),
        ({"amount": 5, "to": "maria", "urgent": 1}, "urgent: true or false is expected, not 1."),
        ({"amount": 5, "to": "maria", "way": "ship"}, 'way: "ship" is none of post, wire.'),
        ({"amount": 5, "to": "maria", "tags": ["a", 2]}, "tags[1]: a text is expected, not 2."),
        ({"amount": 5, "to": "maria", "ammount": 7}, "ammount: there is no such argument. Known: amount, to, times, urgent, way, tags."),
        ([], "The whole: an object {…} is expected, not []."),
    ],
)
def test_the_first_invalid_argument_is_named(args: Any, problem: str) -> None:
    assert misfit(schema_of(pay), args) == problem


@pytest.mark.parametrize(
    ("func", "args", "problem"),
    [
        (send, {"address": {"street": "Main", "zip": 12}}, ""),
        (send, {"address": {"street": "Main", "zip": "12"}}, 'address.zip: a whole number or null is expected, not "12".'),
        (send, {"address": {"zip": 12}}, "address.street: is missing."),
        (plant, {"tree": {"name": "oak", "children": [{"name": "acorn"}]}}, ""),
        (plant, {"tree": {"name": "oak", "children": [{"name": 7}]}}, "tree.children[0].name: a text is expected, not 7."),
    ],
)
def test_places_inside_an_argument_are_named_by_their_path(func: Any, args: Any, problem: str) -> None:
    assert misfit(schema_of(func), args) == problem


def test_validation_of_a_recursive_schema_ends() -> None:
    tree: dict[str, Any] = {"name": "x"}
    for _ in range(500):
        tree = {"name": "x", "children": [tree]}
    assert misfit(schema_of(plant), {"tree": tree}) == ""
    assert misfit({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}, 1) == ""


def test_bounds_are_checked() -> None:
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer", "minimum": 1, "maximum": 9}, "t": {"type": "string", "maxLength": 2}},
    }
    assert misfit(schema, {"n": 0}) == "n: at least 1 is expected, not 0."
    assert misfit(schema, {"n": 10}) == "n: at most 9 is expected, not 10."
    assert misfit(schema, {"t": "abc"}) == 't: at most 2 characters is expected, not "abc".'


def test_the_response_schema_is_the_return_annotation() -> None:
    for func in (send, plant):
        schema = response_schema(LongRunningFunctionTool(func))
        assert schema is not None and list(schema["properties"]) == ["status", "pages"]
        assert misfit(schema, {"status": "maybe", "pages": 1}) == 'status: "maybe" is none of approved, rejected.'


def test_an_uninformative_annotation_gives_no_schema() -> None:
    def nothing(): ...  # type: ignore[no-untyped-def]
    def anything() -> Any: ...
    def unknown() -> Missing: ...  # type: ignore[name-defined]  # noqa: F821

    for func in (pay, nothing, anything, unknown):
        assert response_schema(LongRunningFunctionTool(func)) is None
