"""Gemini's built-in web search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.genai import types

from runtime.models.model_names import check_is_gemini
from runtime.tools.base_tool import BaseTool

if TYPE_CHECKING:
    from runtime.contexts.context import ToolContext
    from runtime.models.llm_request import LlmRequest


class GoogleSearchTool(BaseTool):
    """Lets a Gemini model search the web. The search runs on Google's server; the answer's `grounding_metadata` has the results.

    Attributes:
        bypass_multi_tools_limit: in an agent with other tools, let an agent of its own search. Older models cannot search and call
            functions in one request.
        model: the model of requests with this tool, in place of the agent's.
    """

    def __init__(self, *, bypass_multi_tools_limit: bool = False, model: str | None = None) -> None:
        super().__init__(name="google_search", description="google_search")
        self.bypass_multi_tools_limit = bypass_multi_tools_limit
        self.model = model

    async def process_llm_request(self, *, tool_context: ToolContext, llm_request: LlmRequest) -> None:
        """Enable the search in a request; see `BaseTool.process_llm_request`.

        Raises:
            ValueError: the model has a name that is not Gemini's.
        """
        llm_request.model = self.model or llm_request.model
        check_is_gemini(llm_request.model, "Google search tool")
        llm_request.config.tools = [*(llm_request.config.tools or []), types.Tool(google_search=types.GoogleSearch())]


google_search = GoogleSearchTool()
