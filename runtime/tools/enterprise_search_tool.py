"""Gemini's built-in web search for regulated enterprises."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.genai import types

from runtime.models.model_names import check_is_gemini
from runtime.tools.base_tool import BaseTool

if TYPE_CHECKING:
    from runtime.contexts.context import ToolContext
    from runtime.models.llm_request import LlmRequest


class EnterpriseWebSearchTool(BaseTool):
    """Lets a Gemini model search the web without a log of what was searched. Only Vertex AI offers it."""

    def __init__(self) -> None:
        super().__init__(name="enterprise_web_search", description="enterprise_web_search")

    async def process_llm_request(self, *, tool_context: ToolContext, llm_request: LlmRequest) -> None:
        """Enable the search in a request; see `BaseTool.process_llm_request`.

        Raises:
            ValueError: the model has a name that is not Gemini's.
        """
        check_is_gemini(llm_request.model, "Enterprise Web Search tool")
        llm_request.config.tools = [*(llm_request.config.tools or []), types.Tool(enterprise_web_search=types.EnterpriseWebSearch())]


enterprise_web_search_tool = EnterpriseWebSearchTool()
