"""google-adk's import path of questions about environment variables."""

from __future__ import annotations

import os
import warnings

from runtime.support import environment
from runtime.support.environment import is_env_enabled

__all__ = ["is_enterprise_mode_enabled", "is_env_enabled"]


def is_enterprise_mode_enabled() -> bool:
    """Return whether Gemini is called by way of Google Cloud; warn of the variable's older name, as google-adk 2 does."""
    if "GOOGLE_GENAI_USE_ENTERPRISE" not in os.environ and "GOOGLE_GENAI_USE_VERTEXAI" in os.environ:
        text = "GOOGLE_GENAI_USE_VERTEXAI is deprecated in google-adk 2, which calls it GOOGLE_GENAI_USE_ENTERPRISE."
        warnings.warn(text, DeprecationWarning, stacklevel=2)
    return environment.is_enterprise_mode_enabled()
