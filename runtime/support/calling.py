"""Calls of user-supplied callbacks and instruction providers, sync or async, with any parameter names."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, TypeAlias

from runtime.support.agent_thread import SyncCalls, enclosing
from runtime.support.weak_cache import cached_by_function

Callbacks: TypeAlias = Callable[..., Any] | list[Callable[..., Any]] | None


async def call(sync_calls: SyncCalls, function: Callable[..., Any], **arguments: Any) -> Any:
    """Call a user's function with named arguments.

    Each argument goes to the parameter of its name; the remaining arguments go to the remaining parameters in order.

    Args:
        sync_calls: where a sync function is called.
        function: sync or async.
        arguments: in the order in which a function with other parameter names expects them.

    Returns:
        The function's result, awaited if necessary.
    """
    positional, keywords = _bind(function, arguments)
    return await call_bound(sync_calls, function, positional, keywords)


async def call_bound(sync_calls: SyncCalls, function: Callable[..., Any], positional: list[Any], keywords: dict[str, Any]) -> Any:
    """Call a user's function, an async one on the event loop; return its result, awaited if necessary."""
    if is_async(function):
        with enclosing(sync_calls):
            return await function(*positional, **keywords)
    result = await sync_calls.call(function, *positional, **keywords)
    if not inspect.isawaitable(result):
        return result
    with enclosing(sync_calls):
        return await result


async def first_answer(sync_calls: SyncCalls, callbacks: Callbacks, **arguments: Any) -> Any:
    """Call callbacks in order until one returns a value.

    Args:
        sync_calls: where sync functions are called.
        callbacks: None, one function, or a list of functions.
        arguments: see `call`.

    Returns:
        The first value that is not None.
    """
    for callback in as_list(callbacks):
        answer = await call(sync_calls, callback, **arguments)
        if answer is not None:
            return answer
    return None


def as_list(callbacks: Callbacks) -> Iterable[Callable[..., Any]]:
    """Return the callbacks as an iterable; google-adk accepts one or several."""
    if callbacks is None:
        return ()
    return callbacks if isinstance(callbacks, list) else (callbacks,)


def is_async(function: Callable[..., Any]) -> bool:
    """Return whether a call returns a coroutine; also for partials and objects with an async `__call__`."""
    while isinstance(function, partial):  # not everything that has a `func`: every attribute of a mock is another mock
        function = function.func
    try:
        return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004
    except TypeError:  # `Mock(spec=function)` looks like a function and has no code
        return False


def _bind(function: Callable[..., Any], arguments: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    parameters = _parameters(function)
    names = {parameter.name for parameter in parameters}
    if arguments.keys() <= names or any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters):
        return [], arguments
    unnamed = [value for name, value in arguments.items() if name not in names]
    positional: list[Any] = []
    keywords: dict[str, Any] = {}
    for parameter in parameters:
        if parameter.name in arguments:
            value = arguments[parameter.name]
        elif unnamed and parameter.default is inspect.Parameter.empty and parameter.kind is not inspect.Parameter.VAR_POSITIONAL:
            value = unnamed.pop(0)
        else:
            continue
        if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
            positional.append(value)
        else:
            keywords[parameter.name] = value
    return positional, keywords


@cached_by_function
def _parameters(function: Callable[..., Any]) -> tuple[inspect.Parameter, ...]:
    try:
        return tuple(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # a function in C, or `Mock(spec=function)`: it gets everything by name, as in google-adk
        return (inspect.Parameter("arguments", inspect.Parameter.VAR_KEYWORD),)
