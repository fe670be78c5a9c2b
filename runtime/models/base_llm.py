"""What the runtime needs of a language model."""

from __future__ import annotations

import abc
from collections.abc import AsyncGenerator

from pydantic import BaseModel, ConfigDict

from runtime.models.llm_request import LlmRequest
from runtime.models.llm_response import LlmResponse


class BaseLlm(BaseModel):
    """A language model. Subclasses may add fields of their own.

    Attributes:
        model: the model's name, as its provider calls it.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    model: str

    @classmethod
    def supported_models(cls) -> list[str]:
        """Return regular expressions of the model names this class serves; see `LLMRegistry`."""
        return []

    @abc.abstractmethod
    def generate_content_async(self, llm_request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse, None]:
        """Ask the model.

        Args:
            llm_request: what to send.
            stream: yield pieces with `partial=True` as they come, then the whole answer with `partial` False or None.

        Yields:
            One whole answer at the end; pieces of it before, if `stream`.

        Raises:
            LlmError: the model gave no answer; the text says why.
        """
        raise NotImplementedError  # pragma: no cover - abstract
