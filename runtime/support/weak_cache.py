"""A cache of what is known of functions, which ends with each function.

`functools.lru_cache` would keep the last thousand functions alive, and what their closures refer to: whole agents with their threads.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")


def cached_by_function(compute: Callable[[Callable[..., Any]], T]) -> Callable[[Callable[..., Any]], T]:
    """Return `compute` with a cache for plain functions and their bound methods; for other callables it computes each time.

    Args:
        compute: called with a function; its result must not depend on the object that a method is bound to.
    """
    functions: WeakKeyDictionary[Any, T] = WeakKeyDictionary()
    methods: WeakKeyDictionary[Any, T] = WeakKeyDictionary()

    def cached(function: Callable[..., Any]) -> T:
        if isinstance(function, FunctionType):
            results, key = functions, function
        elif isinstance(function, MethodType) and isinstance(function.__func__, FunctionType):
            results, key = methods, function.__func__
        else:
            return compute(function)
        try:
            return results[key]
        except KeyError:
            result = results[key] = compute(function)
            return result

    return cached
