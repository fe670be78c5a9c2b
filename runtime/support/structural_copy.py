"""Fast deep copies of pydantic objects and JSON data.

`model_copy(deep=True)` takes eight times as long for an event.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from copy import deepcopy
from typing import Any, TypeVar, cast

from pydantic import BaseModel

from runtime.support.unchecked import new_object, set_extra, set_fields, set_names, set_private

T = TypeVar("T")
Model = TypeVar("Model", bound=BaseModel)

_SHARED = frozenset({str, int, float, bool, bytes, type(None)})  # types of values that cannot change


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
    return _copy(model, {**model.__dict__, **values}, {*model.__pydantic_fields_set__, *values}, values)


def _model(model: Model) -> Model:
    return _copy(model, model.__dict__.copy(), model.__pydantic_fields_set__.copy(), ())


def _copy(model: Model, fields: dict[str, Any], names: set[str], done: Container[str]) -> Model:
    """Return an object with these fields, after copying those that are not `done`."""
    for name in names:
        item = fields.get(name)
        if type(item) not in _SHARED and name not in done:
            fields[name] = _copiers[type(item)](item)
    cls = type(model)
    for name in _made_by_factories[cls]:  # the other fields that were never set hold a default that cannot change
        if name not in names:
            item = fields.get(name)
            if type(item) is dict and not item:  # most of an event's
                fields[name] = {}
            elif type(item) not in _SHARED:
                fields[name] = _copiers[type(item)](item)
    copy: Model = new_object(cls)
    set_fields(copy, fields)
    set_names(copy, names)
    extra, private = model.__pydantic_extra__, model.__pydantic_private__
    set_extra(copy, extra if extra is None else _dict(extra))
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


class _FactoryFields(dict[type[BaseModel], tuple[str, ...]]):
    """The fields of a class whose default can change, found once for each class."""

    def __missing__(self, cls: type[BaseModel]) -> tuple[str, ...]:
        """Find the fields of a class."""
        containers = (list, dict, BaseModel)
        fields = cls.model_fields.items()
        self[cls] = found = tuple(name for name, field in fields if field.default_factory or isinstance(field.default, containers))
        return found


_copiers = _Copiers({list: _list, dict: _dict, set: _set})
_made_by_factories = _FactoryFields()
