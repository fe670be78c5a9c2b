"""Gemini's built-in code execution."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.genai import types

from runtime.code_executors.base_code_executor import BaseCodeExecutor

if TYPE_CHECKING:
    from runtime.models.llm_request import LlmRequest


class BuiltInCodeExecutor(BaseCodeExecutor):
    """Lets a Gemini model run its code on its own server; code and results are parts of the answer."""

    def process_llm_request(self, llm_request: LlmRequest) -> None:
        """Enable code execution; see `BaseCodeExecutor.process_llm_request`."""
        llm_request.config.tools = [*(llm_request.config.tools or []), types.Tool(code_execution=types.ToolCodeExecution())]
