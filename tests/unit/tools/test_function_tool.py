"""Functions as tools: arguments, threads and confirmations."""

from __future__ import annotations

import functools
import threading
from typing import TYPE_CHECKING, Any, Optional
from unittest.mock import MagicMock

import pytest
from pydantic import BaseModel

from runtime.agents import LiveRequestQueue
from runtime.agents.callback_context import CallbackContext
from runtime.contexts.context import ToolContext
from runtime.contexts.invocation_context import InvocationContext
from runtime.events.tool_confirmation import ToolConfirmation
from runtime.tools import FunctionTool
from tests.unit.tools.tool_contexts import tool_context

if TYPE_CHECKING:
    from somewhere import OnlyForTheTypeChecker  # type: ignore[import-not-found]


class Item(BaseModel):
    sku: str
    amount: int = 1


async def call(func: Any, context: ToolContext | None = None, /, **args: Any) -> Any:
    return await FunctionTool(func).run_async(args=args, tool_context=context or tool_context())


def add(a: int, b: int = 10) -> int:
    """Adds."""
    return a + b


async def add_later(a: int, b: int = 10) -> int:
    """Adds, later."""
    return a + b


class Adder:
    """Adds to what it holds."""

    def __init__(self, held: int) -> None:
        self.held = held

    def __call__(self, a: int) -> int:
        return self.held + a

    def method(self, a: int) -> int:
        """Adds as a method."""
        return self.held + a


class AsyncAdder:
    async def __call__(self, a: int) -> int:
        """Adds as an object."""
        return 10 + a


class Unhashable(Adder):
    """Adds, and is equal to others."""

    __hash__ = None  # type: ignore[assignment]


def same(func: Any) -> Any:
    @functools.wraps(func)
    def inner(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs)

    return inner


ADDERS = [
    (add, "add", "Adds."),
    (add_later, "add_later", "Adds, later."),
    (Adder(10), "Adder", "Adds to what it holds."),
    (Adder(10).method, "method", "Adds as a method."),
    (AsyncAdder(), "AsyncAdder", "Adds as an object."),
    (Unhashable(10), "Unhashable", "Adds, and is equal to others."),
    (functools.partial(add, b=10), "add", "Adds."),
    (functools.partial(add_later, b=10), "add_later", "Adds, later."),
    (same(add), "add", "Adds."),
    (lambda a: add_later(a), "<lambda>", ""),
]


@pytest.mark.parametrize(("func", "name", "description"), ADDERS)
async def test_any_callable_becomes_a_tool(func: Any, name: str, description: str) -> None:
    tool = FunctionTool(func)

    assert (tool.name, tool.description) == (name, description)
    assert await tool.run_async(args={"a": 1}, tool_context=tool_context()) == 11
    declaration = tool._get_declaration()
    assert declaration and declaration.parameters and declaration.parameters.required == ["a"]


async def test_sync_functions_run_on_a_worker_thread_and_async_functions_on_the_loop() -> None:
    async def on_loop() -> int:
        return threading.get_ident()

    assert await call(lambda: threading.get_ident()) != threading.get_ident()
    assert await call(on_loop) == threading.get_ident()


def by_annotation(ctx: ToolContext, a: int) -> Any:
    return ctx, a


def by_string(a: int, ctx: "ToolContext") -> Any:  # noqa: UP037
    return ctx, a


def by_optional(a: int, ctx: Optional[ToolContext] = None) -> Any:  # noqa: UP045
    return ctx, a


def by_union(a: int, *, ctx: ToolContext | None) -> Any:
    return ctx, a


def as_callback_context(context: CallbackContext, a: int) -> Any:
    return context, a


def by_name(a: int, tool_context: Any) -> Any:
    return tool_context, a


def by_name_without_annotation(tool_context, a):  # type: ignore[no-untyped-def]
    return tool_context, a


def positional_only(ctx: ToolContext, a: int, /) -> Any:
    return ctx, a


def beside_an_unknown_type(ctx: ToolContext, a: OnlyForTheTypeChecker) -> Any:
    return ctx, a


CONTEXT_TAKERS = [
    by_annotation,
    by_string,
    by_optional,
    by_union,
    as_callback_context,
    by_name,
    by_name_without_annotation,
    positional_only,
    beside_an_unknown_type,
]


@pytest.mark.rule("R3")
@pytest.mark.parametrize("func", CONTEXT_TAKERS)
async def test_the_context_parameter_is_found_and_not_declared(func: Any) -> None:
    context = tool_context()

    assert await call(func, context, a=1) == (context, 1)
    declaration = FunctionTool(func)._get_declaration()
    assert declaration and declaration.parameters and declaration.parameters.properties
    assert list(declaration.parameters.properties) == ["a"]


@pytest.mark.parametrize("annotation", ["tools.ToolContext", "Optional[Missing.ToolContext]", "Missing.ToolContext | None", "Context"])
async def test_an_unresolvable_context_annotation_is_found_by_its_name(annotation: str) -> None:
    def tool(a: int, somewhere: Any) -> Any:
        return somewhere, a

    tool.__annotations__["somewhere"] = annotation
    context = tool_context()

    assert await call(tool, context, a=1) == (context, 1)


async def test_the_model_cannot_supply_the_context() -> None:
    context = tool_context()

    assert await call(by_name, context, a=1, tool_context="forged") == (context, 1)


async def test_missing_arguments_are_reported_to_the_model() -> None:
    def three(a: int, b: int, ctx: ToolContext, c: int = 3) -> None:
        raise AssertionError("must not be called")

    result = await call(three, c=1)

    assert set(result) == {"error"}
    assert "three()" in result["error"] and "missing: a, b." in result["error"]


async def test_the_stream_of_a_live_run_is_no_argument() -> None:
    def watch(a: int, input_stream: LiveRequestQueue | None = None) -> Any:
        return a, input_stream

    declaration = FunctionTool(watch)._get_declaration()

    assert declaration and declaration.parameters and declaration.parameters.properties
    assert list(declaration.parameters.properties) == ["a"]
    assert await call(watch, a=1, input_stream="forged") == (1, None)


async def test_unknown_arguments_are_left_out() -> None:
    def varied(a: int, *args: Any, **kwargs: Any) -> Any:
        return a, args, kwargs

    assert await call(varied, a=1, b=2, args=[3], kwargs={"d": 4}) == (1, (), {})


async def test_pydantic_models_are_built_from_json() -> None:
    def order(item: Item, more: list[Item], by_sku: dict[str, Item], gift: Item | None = None, note: str = "") -> Any:
        return item, more, by_sku, gift, note

    given = {"item": {"sku": "a"}, "more": [{"sku": "b", "amount": 2}], "by_sku": {"c": {"sku": "c"}}}

    assert await call(order, **given) == (Item(sku="a"), [Item(sku="b", amount=2)], {"c": Item(sku="c")}, None, "")
    assert (await call(order, **given, gift={"sku": "g"}))[3] == Item(sku="g")
    assert (await call(order, **given, gift=None))[3] is None


async def test_an_invalid_pydantic_argument_is_reported_to_the_model() -> None:
    def order(item: Item) -> None:
        raise AssertionError("must not be called")

    result = await call(order, item={"amount": "many"})

    assert set(result) == {"error"}
    assert "item.sku: Field required; item.amount:" in result["error"]


async def test_arguments_of_other_types_are_passed_unchanged() -> None:
    def tool(a: int, b: str) -> Any:
        return a, b

    assert await call(tool, a="3", b=4) == ("3", 4)


async def test_a_tools_error_propagates() -> None:
    def tool() -> None:
        raise LookupError("gone")

    with pytest.raises(LookupError, match="gone"):
        await call(tool)


@pytest.mark.rule("R11")
async def test_a_call_that_requires_confirmation_asks_the_user_first() -> None:
    calls: list[int] = []

    def pay(amount: int) -> None:
        calls.append(amount)

    tool = FunctionTool(pay, require_confirmation=True)
    context = tool_context()

    assert await tool.run_async(args={"amount": 5}, tool_context=context) == {
        "error": "This tool call requires confirmation, please approve or reject."
    }
    assert calls == []
    assert context.actions.skip_summarization is True
    (asked,) = context.actions.requested_tool_confirmations.items()
    assert asked[0] == "call-1"
    assert asked[1].model_dump() == {
        "hint": "Please approve or reject the tool call pay() by responding with a FunctionResponse with an expected "
        "ToolConfirmation payload.",
        "confirmed": False,
        "payload": None,
    }

    no = tool_context(tool_confirmation=ToolConfirmation(confirmed=False))
    assert await tool.run_async(args={"amount": 5}, tool_context=no) == {"error": "This tool call is rejected."}
    assert calls == []
    assert not no.actions.requested_tool_confirmations

    yes = tool_context(tool_confirmation=ToolConfirmation(confirmed=True))
    assert await tool.run_async(args={"amount": 5}, tool_context=yes) is None
    assert calls == [5]


async def asks_above_ten(amount: int, ctx: ToolContext) -> bool:
    return amount > 10 and ctx.function_call_id == "call-1"


@pytest.mark.parametrize("needed", [lambda amount: amount > 10, asks_above_ten])
async def test_a_function_may_decide_whether_a_confirmation_is_needed(needed: Any) -> None:
    def pay(amount: int, to: str, tool_context: ToolContext) -> str:
        return f"{amount} to {to}"

    tool = FunctionTool(pay, require_confirmation=needed)

    assert await tool.run_async(args={"amount": 10, "to": "Zoë"}, tool_context=tool_context()) == "10 to Zoë"
    assert "requires confirmation" in (await tool.run_async(args={"amount": 11, "to": "Zoë"}, tool_context=tool_context()))["error"]


async def test_missing_arguments_are_reported_before_the_confirmation() -> None:
    context = tool_context()

    result = await FunctionTool(add, require_confirmation=True).run_async(args={}, tool_context=context)

    assert "missing: a." in result["error"]
    assert not context.actions.requested_tool_confirmations


async def test_a_tool_may_be_declared_before_a_variable_that_it_uses_has_a_value() -> None:
    def declared() -> tuple[FunctionTool, Any]:
        def greet(name: "str") -> str:  # noqa: UP037  # its closure is read for a text annotation
            """Greet."""
            return f"{greeting} {name}"

        tool = FunctionTool(greet)
        declaration = tool._get_declaration()
        greeting = "hello"
        return tool, declaration

    tool, declaration = declared()
    assert declaration is not None and declaration.name == "greet"
    assert await tool.run_async(args={"name": "you"}, tool_context=tool_context()) == "hello you"


async def test_a_stand_in_for_the_context_is_enough_to_call_a_function() -> None:
    class StandIn:
        function_call_id = "call-9"

    def tell(name: str, tool_context: Any) -> str:
        """Tell."""
        return f"{name} {tool_context.function_call_id}"

    stand_in: Any = StandIn()
    assert await FunctionTool(tell).run_async(args={"name": "Ada"}, tool_context=stand_in) == "Ada call-9"


@pytest.mark.parametrize(("needed", "expected"), [(True, True), (False, False), (lambda a: a > 1, True)])
async def test_a_tool_says_whether_a_call_needs_approval(needed: Any, expected: bool) -> None:
    tool = FunctionTool(add, require_confirmation=needed)
    assert await tool.check_require_confirmation({"a": 2}, tool_context()) is expected


def test_an_approval_is_read_from_a_response() -> None:
    for response in ({"confirmed": True, "hint": "why"}, {"response": '{"confirmed": true, "hint": "why"}'}):
        assert ToolConfirmation.from_response_dict(response) == ToolConfirmation(confirmed=True, hint="why")
    with pytest.raises(ValueError, match="other"):
        ToolConfirmation.from_response_dict({"other": 1})


async def test_a_tool_runs_with_the_mock_of_a_context() -> None:
    context = ToolContext(MagicMock(spec=InvocationContext, session=MagicMock()))
    assert await FunctionTool(lambda n: {"twice": 2 * n}).run_async(args={"n": 2}, tool_context=context) == {"twice": 4}
