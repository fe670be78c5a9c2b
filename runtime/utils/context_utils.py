"""Contexts in functions' parameters, and `contextlib.aclosing` under google-adk's name."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable
from contextlib import aclosing as Aclosing
from typing import Any

from runtime.contexts.context import Context

__all__ = ["Aclosing", "find_context_parameter"]


def find_context_parameter(func: Callable[..., Any] | None) -> str | None:
    """Return the name of the first parameter that is annotated as a `Context`, also under its older names; None if there is none."""
    try:
        parameters = inspect.signature(func).parameters  # type: ignore[arg-type]  # None raises a TypeError
    except (TypeError, ValueError):
        return None
    try:
        hints = typing.get_type_hints(func)
    except Exception:  # evaluating an arbitrary annotation may raise anything
        hints = {}
    return next((name for name, parameter in parameters.items() if _is_context(hints.get(name, parameter.annotation))), None)


def _is_context(annotation: Any) -> bool:
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return any(map(_is_context, typing.get_args(annotation)))
    return annotation is Context
