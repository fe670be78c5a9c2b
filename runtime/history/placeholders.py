"""The placeholders in an instruction."""

from __future__ import annotations

import re

from runtime.sessions.state import State

_BRACES = re.compile(r"\{\{([^{}]*)\}\}|\{([^{}]*)\}")


_SCOPED_NAME = re.compile(rf"(?:{State.APP_PREFIX}|{State.USER_PREFIX}|{State.TEMP_PREFIX})?[^\W\d]\w*")


_ARTIFACT = "artifact."


def keys_in(template: str) -> set[str]:
    """Return the state keys that a template names, required and optional ones."""
    names = (match.group(2).strip().removesuffix("?") for match in _BRACES.finditer(template) if match.group(2) is not None)
    return {name for name in names if _SCOPED_NAME.fullmatch(name)}
