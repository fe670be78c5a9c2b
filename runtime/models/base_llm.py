"""The base class of language models."""

from __future__ import annotations

import abc
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager

from pydantic import BaseModel, ConfigDict

from runtime.errors.engine_needed_error import EngineNeededError
from runtime.models.base_llm_connection import BaseLlmConnection
from runtime.models.llm_request import LlmRequest
from runtime.models.llm_response import LlmResponse


class BaseLlm(BaseModel):
    """A language model. Subclasses may add fields.

    Attributes:
        model: the provider's name of the model.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    model: str

    @classmethod
    def supported_models(cls) -> list[str]:
        """Return regular expressions of the model names that this class supports; see `LLMRegistry`."""
        return []

    @abc.abstractmethod
    def generate_content_async(self, llm_request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse, None]:
        """Call the model.

        Args:
            llm_request: the request.
            stream: yield pieces with `partial=True` as they arrive, then the complete answer with `partial` False or None.

        Yields:
            The complete answer, preceded by its pieces if `stream` is true.

        Raises:
            LlmError: the model gave no answer; the message says why.
        """
        raise NotImplementedError  # pragma: no cover - abstract

    def connect(self, llm_request: LlmRequest) -> AbstractAsyncContextManager[BaseLlmConnection]:
        """Raise `EngineNeededError`: live conversations run on google-adk. A model of one's own may define it for that."""
        raise EngineNeededError(f"A live connection to {self.model}")
