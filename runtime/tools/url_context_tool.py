"""Gemini's built-in reading of web pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.genai import types

from runtime.models.model_names import check_is_gemini
from runtime.tools.base_tool import BaseTool

if TYPE_CHECKING:
    from runtime.contexts.context import ToolContext
    from runtime.models.llm_request import LlmRequest


class UrlContextTool(BaseTool):
    """Lets a Gemini model read the web pages named in the conversation. The pages are read by Google's server."""

    def __init__(self) -> None:
        super().__init__(name="url_context", description="url_context")

    async def process_llm_request(self, *, tool_context: ToolContext, llm_request: LlmRequest) -> None:
        """Enable the reader in a request; see `BaseTool.process_llm_request`.

        Raises:
            ValueError: the model has a name that is not Gemini's.
        """
        check_is_gemini(llm_request.model, "Url context tool")
        llm_request.config.tools = [*(llm_request.config.tools or []), types.Tool(url_context=types.UrlContext())]


url_context = UrlContextTool()
