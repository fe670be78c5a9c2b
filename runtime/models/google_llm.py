"""google-adk's import path of `Gemini`."""

from runtime.models.gemini import Gemini

__all__ = ["Gemini"]
