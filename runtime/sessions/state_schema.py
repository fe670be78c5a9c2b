"""The keys and types that an agent declares for the state that it writes."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from runtime.support.lazy import lazy_module
from runtime.support.texts import text_of

if TYPE_CHECKING:
    import pydantic
else:
    pydantic = lazy_module("pydantic")


class StateSchemaError(TypeError):
    """Raised for a write to the state that the agent's `state_schema` does not allow."""


def check_write(schema: type[pydantic.BaseModel], key: str, value: Any) -> None:
    """Check a write to the state. Keys with a scope, such as `user:`, are not checked.

    Args:
        schema: a model with a field for each key.
        key: the key.
        value: the new value.

    Raises:
        StateSchemaError: the schema has no such field, or another type or constraint.
    """
    if ":" in key:
        return
    fields = schema.model_fields
    if key not in fields:
        raise StateSchemaError(f"The key {key!r} is not declared in state schema {schema.__name__!r}. Its fields: {sorted(fields)}")
    try:
        _adapter(schema, key).validate_python(value)
    except pydantic.ValidationError as error:
        raise StateSchemaError(f"The value for {key!r} does not satisfy the field of {schema.__name__!r}: {text_of(error)}") from error


@lru_cache(maxsize=256)
def _adapter(schema: type[pydantic.BaseModel], key: str) -> pydantic.TypeAdapter[Any]:
    return pydantic.TypeAdapter(schema.model_fields[key].rebuild_annotation())
