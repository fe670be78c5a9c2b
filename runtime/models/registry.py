"""The registry of language model classes."""

from __future__ import annotations

import importlib
import re
from typing import ClassVar

from runtime.errors.engine_needed_error import EngineNeededError
from runtime.errors.llm_error import UnknownLlmError
from runtime.models.base_llm import BaseLlm

_GEMINI = ("runtime.models.gemini", "Gemini")
_LITE_LLM = ("runtime.models.lite_llm", "LiteLlm")
_BY_LITE_LLM = {"claude": "anthropic/", "gemma": "gemini/"}  # beginnings of names with a class in google-adk → LiteLlm's provider


class LLMRegistry:
    """Finds the class for a model name by regular expressions that match the whole name.

    google-adk's names are registered from the start; a class is imported when one of its names is first requested.
    """

    _classes: ClassVar[dict[str, type[BaseLlm] | tuple[str, str]]] = {
        # Searched from the end. All providers of litellm are tried before an error.
        r"(openai|azure|azure_ai|groq|anthropic|bedrock|ollama|ollama_chat|together_ai|vertex_ai|mistral|deepseek)/.*": _LITE_LLM,
        r"(fireworks_ai|cohere|databricks|ai21)/.*": _LITE_LLM,
        r"gemma-4.*": _GEMINI,
        r"gemini-.*": _GEMINI,
        r"model-optimizer-.*": _GEMINI,
        r"projects/.+/locations/.+/endpoints/.+": _GEMINI,
        r"projects/.+/locations/.+/publishers/google/models/gemini.+": _GEMINI,
    }

    @staticmethod
    def register(llm_cls: type[BaseLlm]) -> None:
        """Register a class for the patterns of its `supported_models()`, in place of earlier classes.

        Args:
            llm_cls: instantiated as `llm_cls(model=name)` when one of its names is requested.
        """
        for pattern in llm_cls.supported_models():
            # Moved to the end, so that `resolve`, which searches from the end, prefers it to older patterns that match too.
            LLMRegistry._classes.pop(pattern, None)
            LLMRegistry._classes[pattern] = llm_cls

    @staticmethod
    def resolve(model: str) -> type[BaseLlm]:
        """Return the class for a model name.

        Args:
            model: the name, such as `gemini-2.5-flash`. A class and a colon in front of it, such as `LiteLlm:name`, choose the class.

        Raises:
            EngineNeededError: google-adk has a class for it.
            UnknownLlmError: no registered class supports the name.
        """
        if chosen := _chosen_class(model):
            return chosen
        for pattern, entry in reversed(LLMRegistry._classes.items()):
            if re.fullmatch(pattern, model):
                return _load(entry)
        if "/" in model and importlib.import_module(_LITE_LLM[0]).is_provider(model.partition("/")[0]):
            return _load(_LITE_LLM)
        if model.startswith(("claude-", "gemma-")):
            raise EngineNeededError(f"The model {model}", f"LiteLlm(model={_BY_LITE_LLM[model.partition('-')[0]] + model!r})")
        raise UnknownLlmError(f"Model {model or repr(model)} not found. {_advice(model)}")

    @staticmethod
    def new_llm(model: str) -> BaseLlm:
        """Return a new language model.

        Raises:
            KnownError: see `resolve`.
        """
        return LLMRegistry.resolve(model)(model=model.partition(":")[2] if _chosen_class(model) else model)


def _chosen_class(model: str) -> type[BaseLlm] | None:
    """Return the class that a name chooses by what is before its colon: a class's name, with or without `Llm`."""
    prefix, colon, _ = model.partition(":")
    if not colon or "/" in prefix:
        return None
    for entry in reversed(LLMRegistry._classes.values()):
        name = entry[1] if isinstance(entry, tuple) else entry.__name__
        if prefix.lower() in (name.lower(), name.lower().removesuffix("llm")):
            return _load(entry)
    return None


def _load(entry: type[BaseLlm] | tuple[str, str]) -> type[BaseLlm]:
    if isinstance(entry, tuple):
        module, name = entry
        llm_class: type[BaseLlm] = getattr(importlib.import_module(module), name)
        return llm_class
    return entry


def _advice(model: str) -> str:
    if model.startswith("apigee/"):
        return "Apigee's proxy needs google-adk: install it in the agent's environment, and the agent runs on it."
    if "/" in model or model.startswith(("gpt-", "o1", "o3", "o4")):
        return "For models of other providers use LiteLlm(model='provider/name'), which needs the extra `litellm`."
    return "Gemini's names begin with 'gemini-'; for others pass an object, such as ScriptedLlm(…), or register its class in LLMRegistry."
