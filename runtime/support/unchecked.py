"""Fast construction of pydantic objects from values that need no validation.

google-genai's constructors inspect each field of a class, given or not, before pydantic does, and `model_construct` is no faster.
"""

from __future__ import annotations

from functools import cache
from typing import Any, TypeVar

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

Model = TypeVar("Model", bound=BaseModel)

new_object: Any = object.__new__  # a third of the time of the class's own
# pydantic's own attribute access would look for fields of these names, and `object.__setattr__` is slower.
_slots = ("__dict__", "__pydantic_fields_set__", "__pydantic_extra__", "__pydantic_private__")
set_fields, set_names, set_extra, set_private = (BaseModel.__dict__[slot].__set__ for slot in _slots)


def construct_unchecked(cls: type[Model], **values: Any) -> Model:
    """Return the equivalent of `cls(**values)`, without validation.

    Args:
        cls: a class without private attributes that accepts only known fields.
        **values: the fields; those with a default factory must be given.
    """
    return construct_from_fields(cls, {**_defaults(cls), **values}, set(values))


def copy_unchecked(model: Model, **values: Any) -> Model:
    """Return the equivalent of `model.model_copy(update=values)`.

    Args:
        model: an object without unknown fields and private attributes.
        **values: the fields to replace.
    """
    return construct_from_fields(type(model), {**model.__dict__, **values}, {*model.model_fields_set, *values})


def construct_from_fields(cls: type[Model], fields: dict[str, Any], names: set[str], private: dict[str, Any] | None = None) -> Model:
    """Return an object made from all its fields.

    Args:
        cls: the class.
        fields: all fields, in order.
        names: the fields that count as set; objects with all fields set may share one set.
        private: the private attributes, if the class has any.
    """
    made: Model = new_object(cls)
    set_fields(made, fields)
    set_names(made, names)
    set_extra(made, None)
    set_private(made, private)
    return made


@cache
def _defaults(cls: type[BaseModel]) -> dict[str, Any]:
    # All fields, so that they are serialised in this order.
    return {name: None if field.default is PydanticUndefined else field.default for name, field in cls.model_fields.items()}
