"""google-adk's import path for helpers that agents call."""
