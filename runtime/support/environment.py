"""Environment variables that switch something on."""

from __future__ import annotations

import os


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
