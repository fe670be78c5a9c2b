"""What a function's signature says to a tool: what the model fills in, and where the context goes."""

from __future__ import annotations

import inspect
import re
import sys
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from runtime.contexts.readonly_context import ReadonlyContext

_CONTEXT_NAMES = {"ToolContext", "CallbackContext", "ReadonlyContext", "Context"}
_EMPTY = inspect.Parameter.empty
_NAMED = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class UnfitArgumentError(Exception):
    """The model gave an argument that its type cannot be built from."""


@dataclass(frozen=True)
class Argument:
    """A parameter that the model fills in.

    Attributes:
        name: its name.
        annotation: its type, resolved from a string if it was one; Any if there is none that can be resolved.
        default: its default, or `REQUIRED`.
    """

    REQUIRED: ClassVar[Any] = _EMPTY

    name: str
    annotation: Any
    default: Any

    @property
    def is_mandatory(self) -> bool:
        """Whether the function cannot be called without it."""
        return self.default is _EMPTY

    def build(self, value: Any) -> Any:
        """Return the value with the pydantic models in its type built from their JSON."""
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
    """The parameters of a function, a method, a partial or a callable object, sorted by who fills them in.

    The context's parameter is one that is annotated as a context (also in a string, also Optional), or called `tool_context`.

    Attributes:
        arguments: what the model fills in, in order; `*args` and `**kwargs` are nobody's.
    """

    def __init__(self, func: Callable[..., Any]) -> None:
        parameters = [_resolved(func, parameter) for parameter in inspect.signature(func).parameters.values() if parameter.kind in _NAMED]
        self._contexts = {parameter.name for parameter in parameters if _is_context(parameter)}
        self._positional = [parameter.name for parameter in parameters if parameter.kind is inspect.Parameter.POSITIONAL_ONLY]
        self.arguments = [
            Argument(parameter.name, Any if isinstance(parameter.annotation, str) else parameter.annotation, parameter.default)
            for parameter in parameters
            if parameter.name not in self._contexts
        ]

    def missing(self, args: Mapping[str, Any]) -> list[str]:
        """Return the names of the mandatory arguments that are not given."""
        return [argument.name for argument in self.arguments if argument.is_mandatory and argument.name not in args]

    def build(self, args: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments the function knows, pydantic models built from their JSON.

        Args:
            args: as the model gave them.

        Raises:
            UnfitArgumentError: a value is no such model; says which and why.
        """
        return {argument.name: argument.build(args[argument.name]) for argument in self.arguments if argument.name in args}

    def bind(self, built: Mapping[str, Any], context: Any) -> tuple[list[Any], dict[str, Any]]:
        """Return how to call the function.

        Args:
            built: from `build`; names the function does not know are left out.
            context: for the context's parameter.
        """
        known = {argument.name for argument in self.arguments}
        values = {name: value for name, value in built.items() if name in known} | dict.fromkeys(self._contexts, context)
        positional = [values.pop(name) for name in self._positional if name in values]
        return positional, values


def arguments_of(model: type[BaseModel]) -> list[Argument]:
    """Return a pydantic model's fields as arguments that a model (the other kind) fills in."""
    return [
        Argument(
            field.alias or name,
            Annotated[field.annotation, field],
            Argument.REQUIRED if field.is_required() else field.get_default(call_default_factory=True),
        )
        for name, field in model.model_fields.items()
    ]


def signature_of(func: Callable[..., Any]) -> FunctionSignature:
    """Return the signature of a function; worked out once, since an agent's functions become tools anew at every turn."""
    try:
        return _cached_signature(func)
    except TypeError:  # a callable object that cannot be hashed
        return FunctionSignature(func)


_cached_signature = lru_cache(maxsize=1024)(FunctionSignature)


def wrapped_function(func: Callable[..., Any]) -> Any:
    """Return the function behind partials and decorators, or the callable object itself."""
    while isinstance(func, partial):
        func = func.func
    return inspect.unwrap(func)


def _resolved(func: Callable[..., Any], parameter: inspect.Parameter) -> inspect.Parameter:
    """Evaluate a string annotation; each by itself, since one that only type checkers can see must not spoil the others."""
    annotation = parameter.annotation
    if annotation is _EMPTY:
        return parameter.replace(annotation=Any)
    inner = wrapped_function(func)
    inner = getattr(inner, "__func__", inner) if inspect.isroutine(inner) or inspect.isclass(inner) else type(inner).__call__
    names = getattr(inner, "__globals__", None) or vars(sys.modules.get(getattr(inner, "__module__", ""), types.ModuleType("none")))
    closure = inspect.getclosurevars(inner).nonlocals if inspect.isfunction(inner) else {}
    holder = types.SimpleNamespace(__annotations__={"it": annotation})
    try:
        return parameter.replace(annotation=typing.get_type_hints(holder, dict(names), dict(closure), include_extras=True)["it"])
    except Exception:  # evaluating what somebody wrote may raise anything
        return parameter


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
