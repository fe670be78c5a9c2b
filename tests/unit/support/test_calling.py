"""Calls of users' functions: sync, async, partials, callable objects and mocks."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any
from unittest.mock import AsyncMock, MagicMock, Mock, create_autospec

import pytest

from runtime.agents import LlmAgent
from runtime.models.scripted_llm import Reply, ScriptedLlm
from runtime.support.calling import is_async
from tests.seeds.running import run, runner_for, texts


def sync_function(a: int) -> int:
    return a


async def async_function(a: int) -> int:
    return a


class AsyncObject:
    async def __call__(self) -> None:
        pass


class HasFunc:
    """A callable object with an attribute `func`, as functools.partial has."""

    def __init__(self) -> None:
        self.func = async_function

    def __call__(self) -> None:
        pass


@pytest.mark.parametrize(
    ("function", "answer"),
    [
        (sync_function, False),
        (async_function, True),
        (functools.partial(sync_function, 1), False),
        (functools.partial(functools.partial(async_function), 1), True),
        (AsyncObject(), True),
        (functools.partial(AsyncObject()), True),
        (HasFunc(), False),
        (Mock(), False),
        (MagicMock(), False),
        (functools.partial(MagicMock()), False),
    ],
    ids=["sync", "async", "partial", "async partial", "async object", "partial object", "func", "Mock", "MagicMock", "partial mock"],
)
def test_only_partials_are_unwrapped(function: Callable[..., Any], answer: bool) -> None:
    assert is_async(function) is answer


def mocks(value: Any) -> list[Mock]:
    return [Mock(return_value=value), MagicMock(return_value=value), AsyncMock(return_value=value)]


def has_signature(function: Callable[..., Any]) -> bool:
    try:
        inspect.signature(function)
    except TypeError:
        return False
    return True


@pytest.mark.parametrize(
    "number",
    [
        0,
        1,
        pytest.param(2, marks=pytest.mark.skipif(not has_signature(AsyncMock()), reason="this Python finds no signature of an AsyncMock")),
    ],
    ids=["Mock", "MagicMock", "AsyncMock"],
)
@pytest.mark.timeout(60)
async def test_mocks_are_called_as_callbacks_providers_and_tools(number: int) -> None:
    names = ("before_agent", "after_agent", "before_model", "after_model", "before_tool", "after_tool")
    callbacks = {f"{name}_callback": mocks(None)[number] for name in names}
    instruction, tool = mocks("Be brief.")[number], mocks({"found": 1})[number]
    tool.__name__ = "search"
    agent = LlmAgent(
        name="agent",
        model=ScriptedLlm(replies=[Reply(calls=[("search", {})]), "done"]),
        instruction=instruction,
        tools=[tool],
        **callbacks,
    )
    events = await run(runner_for(agent))
    assert texts(events) == ["done"]
    [response] = [response for event in events for response in event.get_function_responses()]
    assert response.response == {"found": 1}
    assert instruction.call_count == 2
    tool.assert_called_once_with()
    assert [name for name, callback in callbacks.items() if not callback.called] == []


async def test_a_mock_with_a_specification_receives_the_arguments() -> None:
    tool = create_autospec(sync_function, return_value=3)
    agent = LlmAgent(name="agent", model=ScriptedLlm(replies=[Reply(calls=[("sync_function", {"a": 1})]), "done"]), tools=[tool])
    await run(runner_for(agent))
    tool.assert_called_once_with(a=1)


async def test_a_callback_without_a_signature_gets_its_arguments_by_name() -> None:
    callback = Mock(spec=lambda callback_context: None, return_value=None)  # `inspect.signature` raises a TypeError
    agent = LlmAgent(name="a", model=ScriptedLlm(replies=["done"]), before_agent_callback=callback)
    assert texts(await run(runner_for(agent))) == ["done"]
    assert [*callback.call_args.kwargs] == ["callback_context"]
