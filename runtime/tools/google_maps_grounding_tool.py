"""Gemini's built-in search in Google Maps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.genai import types

from runtime.models.model_names import check_is_gemini
from runtime.tools.base_tool import BaseTool

if TYPE_CHECKING:
    from runtime.contexts.context import ToolContext
    from runtime.models.llm_request import LlmRequest


class GoogleMapsGroundingTool(BaseTool):
    """Lets a Gemini model look up places on Google Maps. Only Vertex AI offers it; the answer's `grounding_metadata` has the places."""

    def __init__(self) -> None:
        super().__init__(name="google_maps", description="google_maps")

    async def process_llm_request(self, *, tool_context: ToolContext, llm_request: LlmRequest) -> None:
        """Enable the lookup in a request; see `BaseTool.process_llm_request`.

        Raises:
            ValueError: the model has a name that is not Gemini's.
        """
        check_is_gemini(llm_request.model, "Google maps tool")
        llm_request.config.tools = [*(llm_request.config.tools or []), types.Tool(google_maps=types.GoogleMaps())]


google_maps_grounding = GoogleMapsGroundingTool()
