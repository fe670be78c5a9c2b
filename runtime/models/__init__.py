"""Language models: requests, responses, and the registry of model classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.support.lazy import lazy_exports

if TYPE_CHECKING:
    from runtime.models.base_llm import BaseLlm
    from runtime.models.gemini import Gemini
    from runtime.models.lite_llm import LiteLlm
    from runtime.models.llm_request import LlmRequest
    from runtime.models.llm_response import LlmResponse
    from runtime.models.registry import LLMRegistry
    from runtime.models.scripted_llm import ScriptedLlm

__all__ = [
    "BaseLlm",
    "Gemini",
    "LLMRegistry",
    "LiteLlm",
    "LlmRequest",
    "LlmResponse",
    "ScriptedLlm",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "BaseLlm": "runtime.models.base_llm",
        "Gemini": "runtime.models.gemini",
        "LLMRegistry": "runtime.models.registry",
        "LiteLlm": "runtime.models.lite_llm",
        "LlmRequest": "runtime.models.llm_request",
        "LlmResponse": "runtime.models.llm_response",
        "ScriptedLlm": "runtime.models.scripted_llm",
    },
)
