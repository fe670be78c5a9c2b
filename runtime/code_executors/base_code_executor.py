"""What an LlmAgent's `code_executor` is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel

if TYPE_CHECKING:
    from runtime.models.llm_request import LlmRequest


class BaseCodeExecutor(BaseModel):
    """Lets a model run code. None here runs it on this machine; an agent that needs that has a tool for it."""

    def process_llm_request(self, llm_request: LlmRequest) -> None:
        """Put what the model needs to know into a request, which is changed in place."""
        raise NotImplementedError(f"{type(self).__name__} does not say what a request needs.")
