"""The two ways to call Gemini."""

from __future__ import annotations

from enum import Enum

from runtime.utils.env_utils import is_enterprise_mode_enabled


class GoogleLLMVariant(Enum):
    """A way to call Gemini: by Google Cloud, or by an API key."""

    VERTEX_AI = "VERTEX_AI"
    GEMINI_API = "GEMINI_API"


def get_google_llm_variant() -> GoogleLLMVariant:
    """Return the way that the environment chooses."""
    return GoogleLLMVariant.VERTEX_AI if is_enterprise_mode_enabled() else GoogleLLMVariant.GEMINI_API
