"""Gemini's built-in web search for regulated enterprises."""

from __future__ import annotations

from google.genai import types

from runtime.tools.gemini_tool import GeminiTool


class EnterpriseWebSearchTool(GeminiTool):
    """Lets a Gemini model search the web without a log of what was searched. Only Vertex AI offers it."""

    def __init__(self) -> None:
        search = types.Tool(enterprise_web_search=types.EnterpriseWebSearch())
        super().__init__("enterprise_web_search", "Enterprise Web Search tool", search)


enterprise_web_search_tool = EnterpriseWebSearchTool()
