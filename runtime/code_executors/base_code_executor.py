"""The base class of an LlmAgent's `code_executor`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel

if TYPE_CHECKING:
    from runtime.models.llm_request import LlmRequest


class BaseCodeExecutor(BaseModel):
    """Lets a model run code. No executor here runs it on this machine; use a tool for that."""

    def process_llm_request(self, llm_request: LlmRequest) -> None:
        """Prepare a request for code execution; the request is changed in place."""
        raise NotImplementedError(f"{type(self).__name__} must implement process_llm_request().")
