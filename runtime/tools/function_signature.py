"""Function signatures of tools: the arguments from the model, and the parameter for the context."""

from __future__ import annotations

import inspect
import re
import sys
import types
import typing
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from runtime.contexts.readonly_context import ReadonlyContext
from runtime.support.weak_cache import cached_by_function

_INPUT_STREAM = "input_stream"  # the parameter of a streaming tool that receives the user's live requests

_CONTEXT_NAMES = {"ToolContext", "CallbackContext", "ReadonlyContext", "Context"}
_EMPTY = inspect.Parameter.empty
_NAMED = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class UnfitArgumentError(Exception):
    """Raised when a model's argument does not match the parameter's type."""


@dataclass(frozen=True)
class Argument:
    """A parameter that the model supplies.

    Attributes:
        name: the parameter's name.
        annotation: its type, resolved if it is a string; Any if missing or unresolvable.
        default: its default, or `REQUIRED`.
    """

    REQUIRED: ClassVar[Any] = _EMPTY

    name: str
    annotation: Any
    default: Any

    @property
    def is_mandatory(self) -> bool:
        """Whether the function requires it."""
        return self.default is _EMPTY

    def build(self, value: Any) -> Any:
        """Return the value with its pydantic models constructed from JSON.

        Raises:
            UnfitArgumentError: the value does not match; the message says where and why.
        """
        if self._adapter is None:
            return value
        try:
            return self._adapter.validate_python(value)
        except ValidationError as error:
            problems = error.errors(include_url=False, include_input=False)
            texts = (f"{'.'.join(map(str, (self.name, *problem['loc'])))}: {problem['msg']}" for problem in problems)
            raise UnfitArgumentError("; ".join(texts)) from error

    @cached_property
    def _adapter(self) -> TypeAdapter[Any] | None:
        return TypeAdapter(self.annotation) if _mentions_pydantic(self.annotation) else None


class FunctionSignature:
    """The parameters of a function, method, partial or callable object, divided into arguments and contexts.

    A parameter receives the context if it is annotated as a context, also as a string or Optional, or is named `tool_context`.
    `input_stream` is no argument: a live run of google-adk gives it.

    Attributes:
        arguments: the parameters that the model supplies, in order, without `*args` and `**kwargs`.
    """

    def __init__(self, func: Callable[..., Any]) -> None:
        parameters = [_resolved(func, parameter) for parameter in inspect.signature(func).parameters.values() if parameter.kind in _NAMED]
        self._contexts = {parameter.name for parameter in parameters if _is_context(parameter)}
        self._positional = [parameter.name for parameter in parameters if parameter.kind is inspect.Parameter.POSITIONAL_ONLY]
        self.arguments = [
            Argument(parameter.name, Any if isinstance(parameter.annotation, str) else parameter.annotation, parameter.default)
            for parameter in parameters
            if parameter.name not in self._contexts | {_INPUT_STREAM}
        ]

    def missing(self, args: Mapping[str, Any]) -> list[str]:
        """Return the names of missing mandatory arguments."""
        return [argument.name for argument in self.arguments if argument.is_mandatory and argument.name not in args]

    def build(self, args: Mapping[str, Any]) -> dict[str, Any]:
        """Return the function's arguments, with pydantic models constructed from JSON.

        Args:
            args: the model's arguments; unknown ones are left out.

        Raises:
            UnfitArgumentError: an argument does not match; the message says which and why.
        """
        return {argument.name: argument.build(args[argument.name]) for argument in self.arguments if argument.name in args}

    def bind(self, built: Mapping[str, Any], context: Any) -> tuple[list[Any], dict[str, Any]]:
        """Return the positional and keyword arguments of the call.

        Args:
            built: the result of `build`; unknown names are left out.
            context: the value of the context's parameter.
        """
        known = {argument.name for argument in self.arguments}
        values = {name: value for name, value in built.items() if name in known} | dict.fromkeys(self._contexts, context)
        positional = [values.pop(name) for name in self._positional if name in values]
        return positional, values


def arguments_of(model: type[BaseModel]) -> list[Argument]:
    """Return a pydantic model's fields as arguments that a language model supplies."""
    return [
        Argument(
            field.alias or name,
            Annotated[field.annotation, field],
            Argument.REQUIRED if field.is_required() else field.get_default(call_default_factory=True),
        )
        for name, field in model.model_fields.items()
    ]


@cached_by_function
def signature_of(func: Callable[..., Any]) -> FunctionSignature:
    """Return the cached signature of a function, as an agent's functions become new tools at every model call."""
    return FunctionSignature(func)


def wrapped_function(func: Callable[..., Any]) -> Any:
    """Return the function behind partials and decorators, or the callable object itself."""
    while isinstance(func, partial):
        func = func.func
    return inspect.unwrap(func)


def _resolved(func: Callable[..., Any], parameter: inspect.Parameter) -> inspect.Parameter:
    """Evaluate a string annotation. Each is evaluated separately, as one under `TYPE_CHECKING` must not affect the others."""
    annotation = parameter.annotation
    if annotation is _EMPTY:
        return parameter.replace(annotation=Any)
    inner = wrapped_function(func)
    inner = getattr(inner, "__func__", inner) if inspect.isroutine(inner) or inspect.isclass(inner) else type(inner).__call__
    names = getattr(inner, "__globals__", None) or vars(sys.modules.get(getattr(inner, "__module__", ""), types.ModuleType("none")))
    holder = types.SimpleNamespace(__annotations__={"it": annotation})
    try:
        return parameter.replace(annotation=typing.get_type_hints(holder, dict(names), _closure_of(inner), include_extras=True)["it"])
    except Exception:  # evaluating an arbitrary annotation may raise anything
        return parameter


def _closure_of(func: Any) -> dict[str, Any]:
    """Return the variables of the functions around a function that it uses, without those that have no value yet."""
    found = {}
    for name, cell in zip(func.__code__.co_freevars, func.__closure__ or (), strict=True) if inspect.isfunction(func) else ():
        with suppress(ValueError):  # the cell is empty
            found[name] = cell.cell_contents
    return found


def _is_context(parameter: inspect.Parameter) -> bool:
    return parameter.name == "tool_context" or _names_context(parameter.annotation)


def _names_context(annotation: Any) -> bool:
    if isinstance(annotation, str):
        words = {word.rpartition(".")[2] for word in re.findall(r"[\w.]+", annotation)} - {"None", "Optional", "Union"}
        return bool(words) and words <= _CONTEXT_NAMES
    if typing.get_origin(annotation) in (typing.Union, types.UnionType, typing.Annotated):
        return any(map(_names_context, typing.get_args(annotation)))
    return inspect.isclass(annotation) and issubclass(annotation, ReadonlyContext)


def _mentions_pydantic(annotation: Any) -> bool:
    if inspect.isclass(annotation) and not typing.get_args(annotation):
        return issubclass(annotation, BaseModel)
    return any(map(_mentions_pydantic, typing.get_args(annotation)))
