"""Callables that a document notifies of its changes. No Qt."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, ParamSpec

P = ParamSpec("P")


class Listeners(Generic[P]):
    """The listeners of one notification; calling this object calls each of them, in the order they were added."""

    def __init__(self) -> None:
        self._listeners: list[Callable[P, None]] = []

    def add(self, listener: Callable[P, None]) -> None:
        """Call a listener from now on."""
        self._listeners.append(listener)

    def remove(self, listener: Callable[P, None]) -> None:
        """Call a listener no longer; nothing happens if it is not one."""
        if listener in self._listeners:
            self._listeners.remove(listener)

    def clear(self) -> None:
        """Remove all listeners."""
        self._listeners.clear()

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> None:
        """Call all listeners. One that is added or removed meanwhile counts from the next call on."""
        for listener in list(self._listeners):
            listener(*args, **kwargs)
