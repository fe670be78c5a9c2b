"""Gemini's built-in web search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.genai import types

from runtime.tools.gemini_tool import GeminiTool

if TYPE_CHECKING:
    from runtime.contexts.context import ToolContext
    from runtime.models.llm_request import LlmRequest


class GoogleSearchTool(GeminiTool):
    """Lets a Gemini model search the web. The search runs on Google's server; the answer's `grounding_metadata` has the results.

    Attributes:
        bypass_multi_tools_limit: in an agent with other tools, let an agent of its own search. Older models cannot search and call
            functions in one request.
        model: the model of requests with this tool, in place of the agent's.
    """

    def __init__(self, *, bypass_multi_tools_limit: bool = False, model: str | None = None) -> None:
        super().__init__("google_search", "Google search tool", types.Tool(google_search=types.GoogleSearch()))
        self.bypass_multi_tools_limit = bypass_multi_tools_limit
        self.model = model

    async def process_llm_request(self, *, tool_context: ToolContext, llm_request: LlmRequest) -> None:
        """Enable the search in a request; see `GeminiTool.process_llm_request`."""
        llm_request.model = self.model or llm_request.model
        await super().process_llm_request(tool_context=tool_context, llm_request=llm_request)


google_search = GoogleSearchTool()
