"""Where google-adk has `Gemini`; it stands in `gemini.py`."""

from runtime.models.gemini import Gemini

__all__ = ["Gemini"]
