"""The base class of language models."""

from __future__ import annotations

import abc
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager

from pydantic import BaseModel, ConfigDict

from runtime.errors.known_error import KnownError
from runtime.models.base_llm_connection import BaseLlmConnection
from runtime.models.llm_request import LlmRequest
from runtime.models.llm_response import LlmResponse


class LiveConnectionError(KnownError, NotImplementedError):
    """Raised where a live conversation begins with a model that has no live connections."""


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
        """Open a live connection; a model of one's own may define it.

        Args:
            llm_request: instructions, tools and, in `live_connect_config`, settings. The conversation so far is sent over the connection.

        Raises:
            LiveConnectionError: this class of models has no live connections.
        """
        raise LiveConnectionError(f"Live connection is not supported for {self.model}. Use a model whose class defines connect().")
