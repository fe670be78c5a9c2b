"""What is cached of functions ends with them: closures refer to whole agents."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from functools import partial

from runtime.support.weak_cache import cached_by_function


class Counted:
    """A computation that counts its calls."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, function: Callable[..., object]) -> int:
        self.calls += 1
        return self.calls


class Owner:
    """An object with a method."""

    def method(self) -> None:
        """Do nothing."""


def test_functions_and_methods_are_computed_once() -> None:
    counted = Counted()
    cached = cached_by_function(counted)

    def function() -> None: ...

    assert [cached(function), cached(function)] == [1, 1]
    assert [cached(Owner().method), cached(Owner().method)] == [2, 2]
    assert cached(Owner.method) == 3, "the unbound method has one parameter more"


def test_other_callables_are_computed_each_time() -> None:
    counted = Counted()
    cached = cached_by_function(counted)
    other = partial(print)
    assert [cached(other), cached(other)] == [1, 2]


def test_a_cached_closure_is_released() -> None:
    cached = cached_by_function(Counted())

    def scope() -> weakref.ref[Owner]:
        owner = Owner()
        cached(lambda: owner)
        cached(owner.method)
        return weakref.ref(owner)

    owner = scope()
    gc.collect()
    assert owner() is None
