"""Names of fields in google-adk's spelling: the ADKs for other languages store camelCase or PascalCase."""

from __future__ import annotations

import re
from typing import Any

_BORDER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
# Fields whose value, or whose value's keys, are not ADK's.
_VALUES = frozenset({"args", "response", "state_delta", "artifact_delta", "requested_auth_configs", "custom_metadata", "agent_state"})
_BY_ID = frozenset({"requested_tool_confirmations"})


def snake_case(name: str) -> str:
    """Return a name such as `functionCall` or `StateDelta` as `function_call`, `state_delta`."""
    return _BORDER.sub("_", name).lower()


def camel_case(name: str) -> str:
    """Return a name such as `function_call` as `functionCall`."""
    head, *rest = name.split("_")
    return head + "".join(map(str.capitalize, rest))


def with_snake_case(value: Any) -> Any:
    """Return a JSON value with the names of its fields in snake case, but with data of users and tools as it is.

    Args:
        value: a value of a few hundred levels at most.
    """
    if isinstance(value, list):
        return [with_snake_case(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {name: _field(name, member) for name, member in ((snake_case(key), member) for key, member in value.items())}


def _field(name: str, value: Any) -> Any:
    if name in _VALUES:
        return value
    if name in _BY_ID and isinstance(value, dict):
        return {key: with_snake_case(member) for key, member in value.items()}
    return with_snake_case(value)
