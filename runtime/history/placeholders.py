"""The placeholders in an instruction."""

from __future__ import annotations

import re

from runtime.sessions.state import State

# A run of braces as google-adk 2.13 reads it: whole, and not after a dollar sign or a backslash.
PLACEHOLDER = re.compile(r"(?<![${\\])(\{++)([^{}]*+)(\}++)")

_SCOPES = (State.APP_PREFIX, State.USER_PREFIX, State.TEMP_PREFIX)
_ARTIFACT = "artifact."


def is_state_name(name: str) -> bool:
    """Return whether a text is a state key that a placeholder can name: an identifier, with or without the prefix of a scope."""
    prefix = next((scope for scope in _SCOPES if name.startswith(scope)), "")
    return name.removeprefix(prefix).isidentifier()


def keys_in(template: str) -> set[str]:
    """Return the state keys that a template names, required and optional ones."""
    names = (match.group(2).strip().removesuffix("?") for match in PLACEHOLDER.finditer(template))
    return {name for name in names if is_state_name(name)}
