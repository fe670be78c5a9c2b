"""Function declarations for models."""

from __future__ import annotations

import datetime
import enum
from typing import Annotated, Any, Literal, Optional, Union

import pytest
from google.genai import types
from pydantic import BaseModel, Field

from runtime.errors import KnownError
from runtime.tools import FunctionTool
from runtime.tools.function_declaration import ToolDeclarationError


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Size(enum.IntEnum):
    SMALL = 1
    BIG = 2


class Item(BaseModel):
    """A thing to buy."""

    sku: str = Field(description="Stock number.", max_length=9)
    amount: int = Field(default=1, ge=1, le=9)
    color: Color = Color.RED


class Tree(BaseModel):
    children: list[Tree] = []


ITEM = {
    "type": "OBJECT",
    "description": "A thing to buy.",
    "properties": {
        "sku": {"type": "STRING", "description": "Stock number.", "max_length": 9},
        "amount": {"type": "INTEGER", "default": 1, "minimum": 1.0, "maximum": 9.0},
        "color": {"type": "STRING", "enum": ["red", "blue"], "default": "red"},
    },
    "required": ["sku"],
}


def declared(func: Any) -> types.FunctionDeclaration:
    declaration = FunctionTool(func)._get_declaration()
    assert declaration
    return declaration


def parameters(func: Any) -> Any:
    declaration = declared(func)
    assert declaration.parameters
    return declaration.parameters.model_dump(mode="json", exclude_none=True)


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        (str, {"type": "STRING"}),
        (int, {"type": "INTEGER"}),
        (float, {"type": "NUMBER"}),
        (bool, {"type": "BOOLEAN"}),
        (list[str], {"type": "ARRAY", "items": {"type": "STRING"}}),
        (list[list[int]], {"type": "ARRAY", "items": {"type": "ARRAY", "items": {"type": "INTEGER"}}}),
        (list, {"type": "ARRAY", "items": {}}),
        (set[int], {"type": "ARRAY", "items": {"type": "INTEGER"}}),
        (
            tuple[int, str],
            {"type": "ARRAY", "items": {"any_of": [{"type": "INTEGER"}, {"type": "STRING"}]}, "min_items": 2, "max_items": 2},
        ),
        (dict, {"type": "OBJECT"}),
        (dict[str, int], {"type": "OBJECT"}),
        (Optional[str], {"type": "STRING", "nullable": True}),  # noqa: UP045
        (str | None, {"type": "STRING", "nullable": True}),
        (Union[int, str], {"any_of": [{"type": "INTEGER"}, {"type": "STRING"}]}),  # noqa: UP007
        (int | str | None, {"any_of": [{"type": "INTEGER"}, {"type": "STRING"}], "nullable": True}),
        (Literal["x", "y"], {"type": "STRING", "enum": ["x", "y"]}),
        (Literal["x"], {"type": "STRING", "enum": ["x"]}),
        (Literal[1, 2], {"type": "INTEGER", "description": "One of: 1, 2."}),
        (Color, {"type": "STRING", "enum": ["red", "blue"]}),
        (Size, {"type": "INTEGER", "description": "One of: 1, 2."}),
        (datetime.datetime, {"type": "STRING", "format": "date-time"}),
        (bytes, {"type": "STRING"}),
        (Annotated[int, Field(description="How many.", ge=1)], {"type": "INTEGER", "description": "How many.", "minimum": 1.0}),
        (Item, ITEM),
        (list[Item], {"type": "ARRAY", "items": ITEM}),
        (Item | None, {**ITEM, "nullable": True}),
        (Any, {}),
        ("list[Item]", {"type": "ARRAY", "items": ITEM}),
        ("UnknownType", {}),
    ],
)
def test_schemas_of_types(annotation: Any, schema: dict[str, Any]) -> None:
    def tool(it):  # type: ignore[no-untyped-def]
        """Does it."""

    tool.__annotations__["it"] = annotation

    assert parameters(tool) == {"type": "OBJECT", "properties": {"it": schema}, "required": ["it"]}


def test_defaults_and_required_parameters() -> None:
    def tool(a, b: str, c: str = "x", d: list[int] = [1], e: Color = Color.BLUE, f: int | None = None, g: Any = object()) -> None:  # type: ignore[no-untyped-def]  # noqa: B006, B008
        """Does it."""

    assert parameters(tool) == {
        "type": "OBJECT",
        "properties": {
            "a": {},
            "b": {"type": "STRING"},
            "c": {"type": "STRING", "default": "x"},
            "d": {"type": "ARRAY", "items": {"type": "INTEGER"}, "default": [1]},
            "e": {"type": "STRING", "enum": ["red", "blue"], "default": "blue"},
            "f": {"type": "INTEGER", "nullable": True},
            "g": {},
        },
        "required": ["a", "b"],
    }


def test_a_default_that_is_not_json_is_left_out() -> None:
    def tool(a: Any = b"\xff") -> None:
        """Does it."""

    assert parameters(tool) == {"type": "OBJECT", "properties": {"a": {}}}


def test_the_docstring_is_the_description_with_its_arguments() -> None:
    def tool(city: str) -> str:
        """Tells the weather.

        Args:
            city: where.

        Returns:
            What the sky looks like.
        """
        return city

    declaration = declared(tool)

    assert declaration.name == "tool"
    assert declaration.description == "Tells the weather.\n\nArgs:\n    city: where.\n\nReturns:\n    What the sky looks like."


def test_a_function_without_parameters_and_docstring() -> None:
    def tool(*args: int, **kwargs: int) -> None:
        return

    assert declared(tool).model_dump(exclude_none=True) == {"name": "tool"}


def test_parameter_names_that_pydantic_reserves() -> None:
    def tool(schema: str, json: str, model_config: str) -> None:
        """Does it."""

    assert list(parameters(tool)["properties"]) == ["schema", "json", "model_config"]


def test_a_recursive_type_is_declared_as_json_schema() -> None:
    def plant(tree: Tree, where: str) -> None:
        """Plants."""

    declaration = declared(plant)

    assert declaration.parameters is None
    assert declaration.parameters_json_schema["required"] == ["tree", "where"]
    assert declaration.parameters_json_schema["properties"]["tree"] == {"$ref": "#/$defs/Tree"}
    assert declaration.parameters_json_schema["$defs"]["Tree"]["properties"]["children"]["items"] == {"$ref": "#/$defs/Tree"}


def test_a_type_without_a_json_form_is_a_clear_error() -> None:
    class Socket:
        pass

    def send(socket: Socket) -> None:
        """Sends."""

    send.__annotations__["socket"] = Socket
    with pytest.raises(ToolDeclarationError, match=r"send\(\).*'socket'.*Socket") as caught:
        declared(send)
    assert isinstance(caught.value, KnownError)


def test_changing_a_declaration_does_not_change_the_next_one() -> None:
    def tool(a: Literal["x"]) -> None:
        """Does it."""

    first = declared(tool)
    first.description = "changed"
    first.parameters.required = []  # type: ignore[union-attr]
    first.parameters.properties["a"] = types.Schema()  # type: ignore[union-attr,index]

    assert declared(tool).description == "Does it."
    assert parameters(tool) == {"type": "OBJECT", "properties": {"a": {"type": "STRING", "enum": ["x"]}}, "required": ["a"]}


def test_private_parameters_are_not_declared() -> None:
    def find(word: str, _limit: int = 10) -> None:
        """Finds."""

    def ping(_tries: int = 1) -> None:
        """Pings."""

    assert parameters(find) == {"type": "OBJECT", "properties": {"word": {"type": "STRING"}}, "required": ["word"]}
    assert declared(ping).parameters is None
