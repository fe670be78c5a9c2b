"""Gemini's built-in reading of web pages."""

from __future__ import annotations

from google.genai import types

from runtime.tools.gemini_tool import GeminiTool


class UrlContextTool(GeminiTool):
    """Lets a Gemini model read the web pages named in the conversation. The pages are read by Google's server."""

    def __init__(self) -> None:
        super().__init__("url_context", "Url context tool", types.Tool(url_context=types.UrlContext()))


url_context = UrlContextTool()
