"""Which class serves which language model."""

from __future__ import annotations

import importlib
import re
from typing import ClassVar

from runtime.errors.llm_error import UnknownLlmError
from runtime.models.base_llm import BaseLlm

_GEMINI = ("runtime.models.gemini", "Gemini")


class LLMRegistry:
    """Finds the class for a language model's name, by regular expressions over the whole name.

    Gemini's names are known from the start; its class is imported when the first of them is asked for.
    """

    _classes: ClassVar[dict[str, type[BaseLlm] | tuple[str, str]]] = {
        r"gemini-.*": _GEMINI,
        r"model-optimizer-.*": _GEMINI,
        r"projects/.+/locations/.+/endpoints/.+": _GEMINI,
        r"projects/.+/locations/.+/publishers/google/models/gemini.+": _GEMINI,
    }

    @staticmethod
    def register(llm_cls: type[BaseLlm]) -> None:
        """Let a class serve the names its `supported_models()` match; the last one registered for a pattern serves it.

        Args:
            llm_cls: made with `llm_cls(model=name)` when one of its names is asked for.
        """
        for pattern in llm_cls.supported_models():
            # To the end, so that `resolve`, which looks from the end, prefers it to older patterns that match too.
            LLMRegistry._classes.pop(pattern, None)
            LLMRegistry._classes[pattern] = llm_cls

    @staticmethod
    def resolve(model: str) -> type[BaseLlm]:
        """Return the class that serves this name.

        Args:
            model: the language model's name, such as `gemini-2.5-flash`.

        Raises:
            UnknownLlmError: no class does.
        """
        for pattern, entry in reversed(LLMRegistry._classes.items()):
            if re.fullmatch(pattern, model):
                return _load(entry)
        raise UnknownLlmError(f"No language model is known by the name {model!r}. {_advice(model)}")

    @staticmethod
    def new_llm(model: str) -> BaseLlm:
        """Return a new language model of this name.

        Args:
            model: its name.

        Raises:
            UnknownLlmError: no class serves the name.
        """
        return LLMRegistry.resolve(model)(model=model)


def _load(entry: type[BaseLlm] | tuple[str, str]) -> type[BaseLlm]:
    if isinstance(entry, tuple):
        module, name = entry
        llm_class: type[BaseLlm] = getattr(importlib.import_module(module), name)
        return llm_class
    return entry


def _advice(model: str) -> str:
    if "/" in model or model.startswith(("gpt-", "claude-", "o1", "o3", "o4")):
        return "For models of other providers give the agent LiteLlm(model='provider/name'); it needs the extra `litellm`."
    return (
        "Gemini's names begin with 'gemini-'; for others give the agent an object, as ScriptedLlm(…), or LLMRegistry.register() its class."
    )
