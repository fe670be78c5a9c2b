"""Fast deep copies of pydantic objects and JSON data.

`model_copy(deep=True)` takes eight times as long for an event.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any, NamedTuple, TypeVar, cast

from pydantic import BaseModel

from runtime.support.unchecked import new_object, set_extra, set_fields, set_names, set_private

T = TypeVar("T")
Model = TypeVar("Model", bound=BaseModel)

_SHARED = frozenset({str, int, float, bool, bytes, type(None)})  # types of values that cannot change
_NOTHING: dict[str, Any] = {}


def structural_copy(value: T) -> T:
    """Return an independent copy of a pydantic object, a container or a plain value.

    Immutable parts are shared. An object that cannot be copied is shared too.
    """
    kind = type(value)
    copy: T = value if kind in _SHARED else _copiers[kind](value)
    return copy


# Loops, as a comprehension costs a call, which for the usual few items takes longer than copying them.


def _list(value: list[Any]) -> list[Any]:
    copy = value.copy()
    for index, item in enumerate(copy):
        if type(item) not in _SHARED:
            copy[index] = _copiers[type(item)](item)
    return copy


def _dict(value: dict[Any, Any]) -> dict[Any, Any]:
    copy = value.copy()
    for key, item in copy.items():
        if type(item) not in _SHARED:
            copy[key] = _copiers[type(item)](item)
    return copy


def _set(value: set[Any]) -> set[Any]:
    for item in value:
        if type(item) not in _SHARED:
            return cast("set[Any]", _other(value))
    return value.copy()  # a deep copy takes twenty times as long, and every call of a function comes with a set of ids


def copy_with(model: Model, values: dict[str, Any]) -> Model:
    """Return an independent copy of a pydantic object with some fields replaced.

    Args:
        model: the object.
        values: field → its value in the copy; not copied.
    """
    return _model(model, values)


def _model(model: Model, values: dict[str, Any] = _NOTHING) -> Model:
    fields, names = model.__dict__.copy(), model.__pydantic_fields_set__.copy()
    for name in names:
        item = fields.get(name)
        if type(item) not in _SHARED and name not in values:
            fields[name] = _copiers[type(item)](item)
    cls = type(model)
    shape = _shapes[cls]
    for name in shape.made_by_factories:  # the other fields that were never set hold a default that cannot change
        if name not in names and name not in values:
            item = fields.get(name)
            if type(item) is dict and not item:  # most of an event's
                fields[name] = {}
            elif type(item) not in _SHARED:
                fields[name] = _copiers[type(item)](item)
    if values:
        fields.update(values)
        names.update(values)
    copy: Model = new_object(cls)
    set_fields(copy, fields)
    set_names(copy, names)
    extra = model.__pydantic_extra__ if shape.takes_extra else None
    set_extra(copy, _dict(extra) if extra else extra if extra is None else {})
    private = model.__pydantic_private__ if shape.has_private else None
    set_private(copy, private and private.copy())
    return copy


def _other(value: Any) -> Any:
    try:
        return deepcopy(value)
    except Exception:  # such as an open file
        return value


class _Copiers(dict[type, Callable[[Any], Any]]):
    """The function that copies objects of a class, found once for each class."""

    def __missing__(self, cls: type) -> Callable[[Any], Any]:
        """Find the function for a class."""
        self[cls] = copier = _model if issubclass(cls, BaseModel) else _other
        return copier


class _Shape(NamedTuple):
    """What the copies of a class's objects need to have copied, besides the fields that were set.

    Attributes:
        made_by_factories: the fields whose default can change.
        takes_extra: whether objects may have unknown fields.
        has_private: whether they have private attributes.
    """

    made_by_factories: tuple[str, ...]
    takes_extra: bool
    has_private: bool


class _Shapes(dict[type[BaseModel], _Shape]):
    """The shape of each class, found once."""

    def __missing__(self, cls: type[BaseModel]) -> _Shape:
        """Find the shape of a class."""
        containers = (list, dict, BaseModel)
        made = tuple(
            name
            for name, field in cls.model_fields.items()
            if isinstance(field.default, containers) or (field.default_factory and not any(field.annotation is kind for kind in _SHARED))
        )
        self[cls] = shape = _Shape(made, cls.model_config.get("extra") == "allow", bool(cls.__private_attributes__))
        return shape


_copiers = _Copiers({list: _list, dict: _dict, set: _set})
_shapes = _Shapes()
