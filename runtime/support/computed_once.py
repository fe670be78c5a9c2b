"""An attribute that is computed when it is first read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class computed_once(Generic[T]):
    """Does what `functools.cached_property` does, without the lock that all instances share before Python 3.12.

    Threads that read events would wait for each other there. Two threads may compute the same value; one of the two stays.
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self._name = compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> computed_once[T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: Any, owner: type) -> Any:
        """Compute the value and put it in place of this descriptor."""
        if instance is None:
            return self
        value = instance.__dict__[self._name] = self._compute(instance)
        return value
