"""Gemini's built-in search in Google Maps."""

from __future__ import annotations

from google.genai import types

from runtime.tools.gemini_tool import GeminiTool


class GoogleMapsGroundingTool(GeminiTool):
    """Lets a Gemini model look up places on Google Maps. Only Vertex AI offers it; the answer's `grounding_metadata` has the places."""

    def __init__(self) -> None:
        super().__init__("google_maps", "Google maps tool", types.Tool(google_maps=types.GoogleMaps()))


google_maps_grounding = GoogleMapsGroundingTool()
