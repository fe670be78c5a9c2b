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

__getattr__, __all__ = lazy_exports(
    __name__,
    {
        "runtime.models.base_llm": "BaseLlm",
        "runtime.models.gemini": "Gemini",
        "runtime.models.lite_llm": "LiteLlm",
        "runtime.models.llm_request": "LlmRequest",
        "runtime.models.llm_response": "LlmResponse",
        "runtime.models.registry": "LLMRegistry",
        "runtime.models.scripted_llm": "ScriptedLlm",
    },
)
