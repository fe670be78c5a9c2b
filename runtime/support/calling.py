"""Calls of user-supplied callbacks and instruction providers, sync or async, with any parameter names."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, TypeAlias

from runtime.support.worker_threads import run_in_thread

Callbacks: TypeAlias = Callable[..., Any] | list[Callable[..., Any]] | None


async def call(function: Callable[..., Any], **arguments: Any) -> Any:
    """Call a user's function with named arguments.

    Each argument goes to the parameter of its name; the remaining arguments go to the remaining parameters in order. A sync function
    runs on a worker thread.

    Args:
        function: sync or async.
        arguments: in the order in which a function with other parameter names expects them.

    Returns:
        The function's result, awaited if necessary.
    """
    positional, keywords = _bind(function, arguments)
    if is_async(function):
        return await function(*positional, **keywords)
    result = await run_in_thread(function, *positional, **keywords)
    return await result if inspect.isawaitable(result) else result


async def first_answer(callbacks: Callbacks, **arguments: Any) -> Any:
    """Call callbacks in order until one returns a value.

    Args:
        callbacks: None, one function, or a list of functions.
        arguments: see `call`.

    Returns:
        The first value that is not None.
    """
    for callback in as_list(callbacks):
        answer = await call(callback, **arguments)
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
    while hasattr(function, "func") and not inspect.isfunction(function):
        function = function.func
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004


def _bind(function: Callable[..., Any], arguments: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    try:
        parameters = _parameters(function)
    except TypeError:  # not hashable
        parameters = _parameters.__wrapped__(function)
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


@lru_cache(maxsize=1024)
def _parameters(function: Callable[..., Any]) -> tuple[inspect.Parameter, ...]:
    return tuple(inspect.signature(function).parameters.values())
