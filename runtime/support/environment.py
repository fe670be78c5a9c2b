"""Environment variables: what switches something on, and what programs of models see."""

from __future__ import annotations

import os

_HARMLESS = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "USERPROFILE", "VIRTUAL_ENV")


def is_env_enabled(env_var_name: str, default: str = "0") -> bool:
    """Return whether a variable is `1`, `true`, `yes` or `on`, in any case.

    Args:
        env_var_name: the variable.
        default: its value if it is not set.
    """
    return os.environ.get(env_var_name, default).strip().lower() in ("1", "true", "yes", "on")


def is_enterprise_mode_enabled() -> bool:
    """Return whether Gemini is called by way of Google Cloud: `GOOGLE_GENAI_USE_ENTERPRISE`, or its older name, is `1` or `true`."""
    value = os.environ.get("GOOGLE_GENAI_USE_ENTERPRISE", os.environ.get("GOOGLE_GENAI_USE_VERTEXAI", ""))
    return value.lower() in ("1", "true")  # as google-genai reads it


def harmless_variables() -> dict[str, str]:
    """Return the variables that a model's program needs. The others may be keys, which it must not see."""
    return {name: os.environ[name] for name in _HARMLESS if name in os.environ}
