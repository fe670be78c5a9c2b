"""Gemini's built-in code execution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.genai import types

from runtime.code_executors.base_code_executor import BaseCodeExecutor
from runtime.code_executors.code_execution_utils import CodeExecutionInput, CodeExecutionResult
from runtime.models.model_names import check_is_gemini

if TYPE_CHECKING:
    from runtime.models.llm_request import LlmRequest


class BuiltInCodeExecutor(BaseCodeExecutor):
    """Lets a Gemini model run its code on its own server; code and results are parts of the answer."""

    def execute_code(self, invocation_context: Any, code_execution_input: CodeExecutionInput) -> CodeExecutionResult:
        """Raise NotImplementedError: the model runs its code itself."""
        raise NotImplementedError("The model runs its code itself: a BuiltInCodeExecutor runs none.")

    def process_llm_request(self, llm_request: LlmRequest) -> None:
        """Enable code execution in a request.

        Args:
            llm_request: the request, changed in place.

        Raises:
            ValueError: the model has a name that is not Gemini's.
        """
        check_is_gemini(llm_request.model, "Gemini code execution tool")
        llm_request.config.tools = [*(llm_request.config.tools or []), types.Tool(code_execution=types.ToolCodeExecution())]
